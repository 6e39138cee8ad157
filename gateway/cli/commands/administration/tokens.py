"""`duograph tokens`: access tokens of workspaces and users."""

from typing import Annotated

import typer

from gateway.cli.kit.output import Json, noun

app = noun("Create, list and revoke access tokens of workspaces and users.")

Workspace = Annotated[str | None, typer.Option("--workspace", metavar="SLUG", help="The token's workspace.")]
User = Annotated[str | None, typer.Option("--user", metavar="EMAIL", help="The token's user.")]


@app.command()
def create(
    *,
    workspace: Workspace = None,
    user: User = None,
    scope: Annotated[
        list[str] | None, typer.Option(help="A scope; repeat for more. All scopes if left out.")
    ] = None,
    comment: Annotated[str, typer.Option(help="What the token is for.")] = "Created by an operator",
    expires_in: Annotated[
        int | None, typer.Option(metavar="SECONDS", help="Seconds until it expires; never if left out.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Create a token for a workspace or a user and show it once."""
    if (workspace is None) == (user is None):
        raise typer.BadParameter("Name the owner with one of them", param_hint="--workspace or --user")
    from gateway.cli.administration import tokens

    tokens.create(workspace, user, scope, comment=comment, expires_in=expires_in, as_json=as_json)


@app.command("list")
def list_(workspace: Workspace = None, user: User = None, as_json: Json = False) -> None:
    """List valid tokens, oldest first."""
    from gateway.cli.administration import tokens

    tokens.list_(workspace, user, as_json=as_json)


@app.command("show")
def show_(
    id: Annotated[str, typer.Argument(metavar="ID", help="The token's id, or the token itself.")],
    as_json: Json = False,
) -> None:
    """Show a valid token, with its scopes."""
    from gateway.cli.administration import tokens

    tokens.show_(id, as_json=as_json)


@app.command()
def revoke(
    token_or_id: Annotated[str, typer.Argument(help="A credential of any kind, or its id.")],
    as_json: Json = False,
) -> None:
    """Revoke a credential: its next request fails. An email tells its owner."""
    from gateway.cli.administration import tokens

    tokens.revoke(token_or_id, as_json=as_json)
