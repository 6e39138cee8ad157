"""The shares that have facts, found by leaping from one to the next in the index of facts by share."""

from uuid import UUID

from sqlalchemy import bindparam

from storage.dialects.leaps import values_of
from storage.engine.connections import Connection
from storage.metrics.reading.fact_source import FACTS
from storage.metrics.reading.reader import Selection

_WORKSPACE_ID = bindparam("workspace_id", type_=FACTS.c.workspace_id.type)


_SHARES = values_of(FACTS.c.share_id, FACTS.c.workspace_id == _WORKSPACE_ID)


async def shares_with_facts(connection: Connection, selection: Selection) -> list[UUID]:
    """The selected shares, or all that have facts in the workspaces."""
    if selection.share_ids is not None:
        return list(selection.share_ids)
    shares: dict[UUID, None] = {}
    for workspace_id in selection.workspace_ids:
        rows = await connection.execute(_SHARES, {"workspace_id": workspace_id})
        shares |= dict.fromkeys(rows.scalars())
    return list(shares)
