"""`duograph workspaces`: create workspaces, review them and manage their members."""

from typing import Annotated, Any

import typer

from gateway.cli.as_user import in_place_of, perform
from gateway.cli.database import migrated, read_settings, wait_for
from gateway.cli.input import user_of, workspace_of
from gateway.cli.output import CommandError, Json, noun, show, table
from gateway.settings.settings import Settings
from resolvers.workspaces.administration import (
    RoleRefused,
    StatusRefused,
    change_status,
    list_members,
    set_review_threshold,
    set_role,
)
from resolvers.workspaces.workspaces import create_workspace
from schema.scalars import LARGEST_INT, write_moment
from schema.workspaces import Workspace
from storage.enums import WorkspaceRole, WorkspaceStatus
from storage.rows import values_of
from storage.tables.workspaces import WorkspaceRow

app = noun("Create workspaces, review them and manage their members.")


@app.command()
def create(
    name: Annotated[str, typer.Option(help="The name to show: 3 to 256 characters.")],
    slug: Annotated[str, typer.Option(help="The name in web addresses; it cannot be changed.")],
    owner: Annotated[str, typer.Option(metavar="EMAIL", help="The user who owns it.")],
    as_json: Json = False,
) -> None:
    """Create a workspace on behalf of its owner."""
    workspace = wait_for(_create(read_settings(), name, slug, owner))
    text = f"Created the workspace {workspace.slug} ({workspace.id}) of {owner}."
    show(workspace.model_dump(mode="json"), text, as_json=as_json)


@app.command()
def status(
    slug: Annotated[str, typer.Argument(help="The workspace.")],
    status: Annotated[WorkspaceStatus, typer.Argument(help="A status that may follow the current one.")],
    as_json: Json = False,
) -> None:
    """Change the status of a workspace's review."""
    workspace = wait_for(_move(read_settings(), slug, status))
    text = f"The workspace {workspace.slug} is {workspace.status.value}."
    show(workspace.model_dump(mode="json"), text, as_json=as_json)


@app.command("review-threshold")
def review_threshold(
    slug: Annotated[str, typer.Argument(help="The workspace.")],
    threshold: Annotated[
        int, typer.Argument(metavar="N", min=0, max=LARGEST_INT, help="In minor units; 0 for none.")
    ],
    as_json: Json = False,
) -> None:
    """Set the revenue at which a workspace is next reviewed. Lists can be sorted by it."""
    workspace = wait_for(_set_threshold(read_settings(), slug, threshold))
    result = {"slug": workspace.slug, "next_review_threshold": workspace.next_review_threshold}
    revenue = f"a revenue of {threshold} in minor units" if threshold else "no revenue"
    show(result, f"The workspace {workspace.slug} is next reviewed at {revenue}.", as_json=as_json)


async def _set_threshold(settings: Settings, slug: str, threshold: int) -> WorkspaceRow:
    async with migrated(settings) as database, database.write() as connection:
        workspace = await workspace_of(connection, slug)
        return await set_review_threshold(connection, workspace, threshold or None)


@app.command()
def members(
    slug: Annotated[str, typer.Argument(help="The workspace.")],
    as_json: Json = False,
) -> None:
    """List a workspace's members and open invitations."""
    rows = wait_for(_members(read_settings(), slug))
    headings = ("EMAIL", "ROLE", "JOINED", "INVITED UNTIL")
    cells = [(row["email"], row["role"], row["joined_at"] or "-", row["expires_at"] or "-") for row in rows]
    show({"members": rows}, table([headings, *cells]), as_json=as_json)


@app.command()
def role(
    slug: Annotated[str, typer.Argument(help="The workspace.")],
    email: Annotated[str, typer.Argument(help="The email address of a member.")],
    role: Annotated[WorkspaceRole, typer.Argument(help="The new role.")],
    as_json: Json = False,
) -> None:
    """Change a member's role, for example when no owner can be reached."""
    wait_for(_set_role(read_settings(), slug, email, role))
    result = {"slug": slug, "email": email, "role": role.value}
    noun = "an owner" if role is WorkspaceRole.OWNER else "a member"
    show(result, f"{email} is now {noun} of {slug}.", as_json=as_json)


async def _members(settings: Settings, slug: str) -> list[dict[str, Any]]:
    async with migrated(settings) as database, database.snapshot() as connection:
        workspace = await workspace_of(connection, slug)
        return [
            {
                "email": member.address,
                "role": member.row.role,
                "joined_at": write_moment(member.row.joined_at) if member.row.joined_at else None,
                "expires_at": write_moment(member.row.expires_at) if member.row.expires_at else None,
            }
            for member in await list_members(connection, workspace.id)
        ]


async def _set_role(settings: Settings, slug: str, email: str, role: WorkspaceRole) -> None:
    async with migrated(settings) as database:
        try:
            async with database.write() as connection:
                workspace, user = await workspace_of(connection, slug), await user_of(connection, email)
                await set_role(connection, workspace.id, user.id, role)
        except RoleRefused as refused:
            raise CommandError(str(refused)) from None


async def _create(settings: Settings, name: str, slug: str, owner: str) -> Workspace:
    async with migrated(settings) as database:
        async with database.read() as connection:
            user = await user_of(connection, owner)
        ctx = in_place_of(user, settings, database)
        workspace: Workspace = await perform(ctx, create_workspace, data={"name": name, "slug": slug})
        return workspace


async def _move(settings: Settings, slug: str, status: WorkspaceStatus) -> Workspace:
    async with migrated(settings) as database:
        try:
            async with database.write() as connection:
                return Workspace.model_validate(values_of(await change_status(connection, slug, status)))
        except StatusRefused as refused:
            raise CommandError(str(refused)) from None
