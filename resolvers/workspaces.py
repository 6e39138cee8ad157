"""What can be done with workspaces."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select

from oauth.scopes import Scope
from resolvers.access import get_visible, visible
from resolvers.context import Context
from resolvers.operations import requires
from schema.workspaces import Workspace
from storage.rows import table_of
from storage.tables.workspaces import WorkspaceRow


@requires(Scope.WORKSPACES_READ)
async def get_workspace(ctx: Context, id: UUID) -> Workspace:
    """One workspace."""
    return Workspace.model_validate(await get_visible(ctx, WorkspaceRow, id=id))


async def load_workspaces(ctx: Context, ids: Sequence[UUID]) -> list[Workspace | None]:
    """The visible workspaces of these ids, in their order."""
    table = table_of(WorkspaceRow)
    wanted = select(table).where(visible(WorkspaceRow, ctx.principal), table.c.id.in_(ids))
    async with ctx.read() as connection:
        found = {row["id"]: row for row in (await connection.execute(wanted)).mappings()}
    return [Workspace.model_validate(dict(found[id])) if id in found else None for id in ids]
