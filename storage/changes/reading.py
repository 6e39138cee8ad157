"""Reading the change log of one workspace: a page that takes as long wherever it is in the log."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import BigInteger, Select, Uuid, bindparam, func, select

from storage.dialects.matching import among
from storage.engine.connections import Connection
from storage.engine.statements.kept import Kept
from storage.tables.base import table_of
from storage.tables.changes import ChangeRow

# How many changes a page looks through at most for those that it is asked for.
SPAN = 5_000

_table = table_of(ChangeRow)
_home = _table.c.workspace_id == bindparam("home", type_=Uuid())
_COLUMNS = ("id", "position", "kind", "resource_id", "at", "actor_kind", "actor_id", "count")


class Logged(NamedTuple):
    """A change with its position."""

    id: UUID
    position: int
    kind: str
    resource_id: UUID | None
    at: datetime
    actor_kind: str
    actor_id: UUID | None
    items: int | None


class Extent(NamedTuple):
    """The positions of the oldest and the newest change; of an empty log 1 and 0."""

    oldest: int
    newest: int

    def follows(self, after: int) -> bool:
        """Whether all changes after this position are kept. One beyond the newest is not of this log."""
        return self.oldest - 1 <= after <= self.newest


class LogPage(NamedTuple):
    """Changes in their order; `end` is the position up to which the log was looked through."""

    changes: list[Logged]
    end: int
    has_more: bool


def _page(*, of_resource: bool) -> Select[*tuple[object, ...]]:
    place = _table.c.position
    kinds = among(_table.c.kind, "kinds")
    within = place > bindparam("after", type_=BigInteger()), place <= bindparam("until", type_=BigInteger())
    page = select(*(_table.c[name] for name in _COLUMNS)).where(_home, *within, kinds)
    if of_resource:
        page = page.where(_table.c.resource_id == bindparam("resource_id", type_=Uuid()))
    return page.order_by(place).limit(bindparam("most"))


_PAGES = {of_resource: Kept(_page(of_resource=of_resource)) for of_resource in (False, True)}
# Each by itself: SQLite finds one of them in an index, and would read all rows for both.
_EXTENT = Kept(
    select(
        *(
            select(extreme(_table.c.position)).where(_home).scalar_subquery()
            for extreme in (func.min, func.max)
        )
    )
)

_MEASURED = Kept(
    select(func.min(_table.c.measured_from)).where(
        _home,
        _table.c.position > bindparam("after", type_=BigInteger()),
        _table.c.position <= bindparam("until", type_=BigInteger()),
    )
)


class Measured(NamedTuple):
    """From which moment on changes up to the position `end` have changed metrics; None if they did not."""

    earliest: int | None
    end: int
    has_more: bool


async def read_extent(connection: Connection, workspace_id: UUID) -> Extent:
    """How far the log of the workspace reaches."""
    ((oldest, newest),) = await connection.fetch(_EXTENT, {"home": workspace_id})
    return Extent(1, 0) if newest is None else Extent(oldest, newest)


async def read_log(
    connection: Connection,
    workspace_id: UUID,
    extent: Extent,
    *,
    after: int,
    kinds: Sequence[str],
    resource_id: UUID | None,
    limit: int,
) -> LogPage:
    """The first changes of these kinds after a position, in the snapshot that has this extent."""
    until = min(after + SPAN, extent.newest)
    page = _PAGES[resource_id is not None]
    values = {
        "home": workspace_id,
        "after": after,
        "until": until,
        "kinds": list(kinds),
        "resource_id": resource_id,
        "most": limit + 1,
    }
    changes = [Logged(*row) for row in await connection.rows(page, values)]
    if len(changes) > limit:
        return LogPage(changes[:limit], changes[limit - 1].position, has_more=True)
    return LogPage(changes, until, has_more=until < extent.newest)


async def read_measured(connection: Connection, workspace_id: UUID, extent: Extent, after: int) -> Measured:
    """What the next changes after a position did to the metrics, in the snapshot that has this extent."""
    until = min(after + SPAN, extent.newest)
    values = {"home": workspace_id, "after": after, "until": until}
    ((earliest,),) = await connection.fetch(_MEASURED, values)
    return Measured(earliest, until, until < extent.newest)
