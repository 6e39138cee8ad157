"""The name, picture and colour that an email shows: those of the workspace it is about, or our own."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select

from storage.engine.connections import Connection
from storage.rows.rows import table_of
from storage.tables.workspaces.workspaces import WorkspaceRow

# White text is readable on each of them.
COLOURS = ("#4338ca", "#1d4ed8", "#0f766e", "#15803d", "#a16207", "#c2410c", "#be123c", "#7e22ce")

_workspaces = table_of(WorkspaceRow)


@dataclass(frozen=True)
class Brand:
    """The sender as the recipient knows it. `picture` is an https address or our own."""

    name: str
    colour: str = COLOURS[0]
    picture: str | None = None


DUOGRAPH = Brand("Duograph")


def brand_of(workspace_id: UUID, name: str, avatar_url: str | None, own_address: str) -> Brand:
    """The brand of a workspace. Until workspaces choose a colour, it follows from their id.

    Pictures on unencrypted hosts other than ours are left out: anyone on the way could replace them.
    """
    is_safe = avatar_url is not None and avatar_url.startswith(("https://", f"{own_address}/"))
    colour = COLOURS[workspace_id.int % len(COLOURS)]
    return Brand(name, colour, avatar_url if is_safe else None)


async def find_brand(connection: Connection, workspace_id: UUID, own_address: str) -> Brand:
    """The brand of the workspace; `own_address` is that of our pages."""
    statement = select(_workspaces.c.name, _workspaces.c.avatar_url).where(_workspaces.c.id == workspace_id)
    workspace = (await connection.execute(statement)).one()
    return brand_of(workspace_id, workspace.name, workspace.avatar_url, own_address)
