"""Following the metrics of a workspace: which days have changed, as changes are committed."""

from uuid import UUID

from sqlalchemy import Uuid, bindparam, select

from oauth.scopes import Scope
from resolvers.changes.changes import check_follows, number, workspace_of
from resolvers.changes.following import begin
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.live import Live, LivePage
from schema.changes.changes import LatestChangeQuery, write_position
from schema.changes.live import MetricsChange
from storage.changes.reading import Measured, read_extent, read_measured
from storage.engine.connections import Connection
from storage.engine.statements.kept import Kept
from storage.metrics.facts import moment_of
from storage.metrics.periods import FIRST_DATE
from storage.metrics.zones import in_zone
from storage.tables.base import table_of
from storage.tables.workspaces.workspaces import WorkspaceRow

SECONDS_BETWEEN_READS = 1

_workspaces = table_of(WorkspaceRow)
_ZONE = Kept(select(_workspaces.c.timezone).where(_workspaces.c.id == bindparam("id", type_=Uuid())))


@requires(Scope.METRICS_READ)
async def stream_metrics_changes(ctx: Context, filters: LatestChangeQuery) -> Live[MetricsChange]:
    """Tells at most once a second that metrics have changed, and from which local day on.

    It begins with the next change. A client that was cut reads the metrics that it shows once more.
    """
    workspace_id = await workspace_of(ctx, filters)

    async def read(after: str) -> LivePage[MetricsChange]:
        await number(ctx, workspace_id)

        async def measure(connection: Connection) -> tuple[Measured, str | None]:
            extent = await read_extent(connection, workspace_id)
            check_follows(extent, int(after))
            zones = await connection.fetch(_ZONE, {"id": workspace_id})
            return await read_measured(connection, workspace_id, extent, int(after)), zones[0][0]

        measured, zone = await ctx.in_snapshot(measure)
        changes = [] if measured.earliest is None else [_change(workspace_id, measured.earliest, zone)]
        return LivePage(changes, write_position(measured.end), measured.has_more)

    return await begin(ctx, workspace_id, None, read, SECONDS_BETWEEN_READS)


def _change(workspace_id: UUID, moment: int, zone: str | None) -> MetricsChange:
    day = in_zone(moment_of(moment), zone or "UTC").date()
    return MetricsChange(workspace_id=workspace_id, first_day=max(day, FIRST_DATE))
