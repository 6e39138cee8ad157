"""The shares that have facts, found by leaping from one to the next in the index of facts by share."""

from typing import Any
from uuid import UUID

from sqlalchemy import Select, bindparam, select

from storage.engine.connections import Connection
from storage.metrics.reading.fact_source import FACTS
from storage.metrics.reading.reader import Selection

_WORKSPACE_ID = bindparam("workspace_id", type_=FACTS.c.workspace_id.type)


def _shares() -> Select[Any]:
    own = FACTS.c.workspace_id == _WORKSPACE_ID, FACTS.c.share_id.is_not(None)
    first = select(FACTS.c.share_id).where(*own).order_by(FACTS.c.share_id).limit(1).scalar_subquery()
    shares = select(first.label("share_id")).cte("shares", recursive=True)
    following = (
        select(FACTS.c.share_id)
        .where(*own, FACTS.c.share_id > shares.c.share_id)
        .order_by(FACTS.c.share_id)
        .limit(1)
        .scalar_subquery()
    )
    shares = shares.union_all(select(following).where(shares.c.share_id.is_not(None)))
    return select(shares.c.share_id).where(shares.c.share_id.is_not(None))


_SHARES = _shares()


async def shares_with_facts(connection: Connection, selection: Selection) -> list[UUID]:
    """The selected shares, or all that have facts in the workspaces."""
    if selection.share_ids is not None:
        return list(selection.share_ids)
    shares: dict[UUID, None] = {}
    for workspace_id in selection.workspace_ids:
        rows = await connection.execute(_SHARES, {"workspace_id": workspace_id})
        shares |= dict.fromkeys(row.share_id for row in rows)
    return list(shares)
