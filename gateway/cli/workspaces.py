"""`duograph workspaces`: tenants and where their review stands."""

from typing import Annotated, Any

import typer

from gateway.cli.acting import in_place_of, perform
from gateway.cli.database import migrated, read_settings, wait_for
from gateway.cli.input import user_of, workspace_of
from gateway.cli.output import CommandError, Json, noun, show
from gateway.settings import Settings
from resolvers.accounts import MoveRefused, move_workspace
from resolvers.administration import set_review_threshold
from resolvers.workspaces import create_workspace
from schema.scalars import LARGEST_INT
from schema.workspaces import Workspace
from storage.enums import WorkspaceStatus

app = noun("Tenants and where their review stands.")


@app.command()
def create(
    name: Annotated[str, typer.Option(help="3 to 256 characters, for people.")],
    slug: Annotated[str, typer.Option(help="Its name in addresses, fixed for ever.")],
    owner: Annotated[str, typer.Option(metavar="EMAIL", help="The user who becomes its first member.")],
    as_json: Json = False,
) -> None:
    """Make a workspace in the place of its owner."""
    workspace = wait_for(_create(read_settings(), name, slug, owner))
    text = f"Made the workspace {workspace.slug} ({workspace.id}) of {owner}."
    show(workspace.model_dump(mode="json"), text, as_json=as_json)


@app.command()
def status(
    slug: Annotated[str, typer.Argument(help="The workspace.")],
    status: Annotated[WorkspaceStatus, typer.Argument(help="One that may follow the status it has.")],
    as_json: Json = False,
) -> None:
    """Move a workspace's review on."""
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
    """Set the revenue at which a workspace is reviewed next, which lists sort by."""
    workspace = wait_for(_set_threshold(read_settings(), slug, threshold))
    result = {"slug": workspace["slug"], "next_review_threshold": workspace["next_review_threshold"]}
    revenue = f"a revenue of {threshold} in minor units" if threshold else "no revenue"
    show(result, f"The workspace {workspace['slug']} is reviewed next at {revenue}.", as_json=as_json)


async def _set_threshold(settings: Settings, slug: str, threshold: int) -> dict[str, Any]:
    async with migrated(settings) as database, database.write() as connection:
        workspace = await workspace_of(connection, slug)
        return await set_review_threshold(connection, workspace, threshold or None)


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
                return Workspace.model_validate(await move_workspace(connection, slug, status))
        except MoveRefused as refused:
            raise CommandError(str(refused)) from None
