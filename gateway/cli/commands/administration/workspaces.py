"""`duograph workspaces`: create, move and delete workspaces, review them and manage their members."""

from typing import Annotated

import typer

from gateway.cli.kit.output import Json, Limit, Yes, confirm, noun
from schema.values.integers import LARGEST_INT
from storage.enums import WorkspaceRole, WorkspaceStatus

app = noun("Create, move and delete workspaces, review them and manage their members.")

Slug = Annotated[str, typer.Argument(help="The workspace.")]


@app.command()
def create(
    name: Annotated[str, typer.Option(help="The name to show: 3 to 256 characters.")],
    slug: Annotated[str, typer.Option(help="The name in web addresses; it cannot be changed.")],
    owner: Annotated[str, typer.Option(metavar="EMAIL", help="The user who owns it.")],
    as_json: Json = False,
) -> None:
    """Create a workspace on behalf of its owner."""
    from gateway.cli.administration import workspaces

    workspaces.create(name, slug, owner, as_json=as_json)


@app.command()
def copy(
    slug: Slug,
    owner: Annotated[str, typer.Option(metavar="EMAIL", help="The member who owns the copy.")],
    name: Annotated[str | None, typer.Option(help="The copy's name.")] = None,
    copy_slug: Annotated[str | None, typer.Option("--slug", help="The copy's name in web addresses.")] = None,
    *,
    customers: Annotated[
        bool, typer.Option("--customers", help="With customers, under made-up emails.")
    ] = False,
    history: Annotated[
        bool, typer.Option("--history", help="With customers, sessions, payments, refunds and events.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Copy a workspace's shares, custom fields and settings into a test workspace."""
    from gateway.cli.administration import workspaces

    included = {"include_customers": customers, "include_history": history}
    workspaces.copy(slug, owner, {"name": name, "slug": copy_slug, **included}, as_json=as_json)


@app.command()
def move(
    slug: Slug,
    node: Annotated[str, typer.Argument(help="The node to move it to, by its host or HOST:PORT.")],
    alone: Annotated[
        bool, typer.Option("--alone", help="Without the workspaces in its shard: their changes wait first.")
    ] = False,
    seconds: Annotated[int, typer.Option(min=1, max=1_000_000, help="Give up after so many seconds.")] = 3600,
    as_json: Json = False,
) -> None:
    """Move a workspace to another node of a cluster, while it is used.

    The workspaces in the same shard move with it, unless it is to be alone.
    """
    from gateway.cli.administration import moving

    moving.move(slug, node, seconds, alone=alone, as_json=as_json)


@app.command("list")
def list_(limit: Limit = 100, as_json: Json = False) -> None:
    """List workspaces."""
    from gateway.cli.administration import workspaces

    workspaces.list_(limit, as_json=as_json)


@app.command("show")
def show_(slug: Slug, as_json: Json = False) -> None:
    """Show a workspace."""
    from gateway.cli.administration import workspaces

    workspaces.show_(slug, as_json=as_json)


@app.command()
def delete(slug: Slug, yes: Yes = False, as_json: Json = False) -> None:
    """Delete a workspace with its shares, customers, files, sales, events and metrics.

    Its tokens, OAuth clients and portal end at once. A running gateway removes the rest. The slug cannot be
    used again.
    """
    confirm(f"This deletes the workspace {slug} with everything in it.", yes=yes)
    from gateway.cli.administration import workspaces

    workspaces.delete(slug, as_json=as_json)


@app.command()
def status(
    slug: Slug,
    status: Annotated[WorkspaceStatus, typer.Argument(help="A status that may follow the current one.")],
    as_json: Json = False,
) -> None:
    """Change the status of a workspace's review."""
    from gateway.cli.administration import workspaces

    workspaces.status(slug, status, as_json=as_json)


@app.command("review-threshold")
def review_threshold(
    slug: Slug,
    threshold: Annotated[
        int, typer.Argument(metavar="N", min=0, max=LARGEST_INT, help="In minor units; 0 for none.")
    ],
    as_json: Json = False,
) -> None:
    """Set the revenue at which a workspace is next reviewed. Lists can be sorted by it."""
    from gateway.cli.administration import workspaces

    workspaces.review_threshold(slug, threshold, as_json=as_json)


@app.command()
def members(slug: Slug, as_json: Json = False) -> None:
    """List a workspace's members and open invitations."""
    from gateway.cli.administration import workspaces

    workspaces.members(slug, as_json=as_json)


@app.command()
def role(
    slug: Slug,
    email: Annotated[str, typer.Argument(help="The email address of a member.")],
    role: Annotated[WorkspaceRole, typer.Argument(help="The new role.")],
    as_json: Json = False,
) -> None:
    """Change a member's role, for example when no owner can be reached."""
    from gateway.cli.administration import workspaces

    workspaces.role(slug, email, role, as_json=as_json)
