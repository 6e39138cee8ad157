"""`duograph clients`: applications that users can connect."""

from typing import Annotated

import typer

from gateway.cli.kit.output import Json, Limit, Yes, confirm, noun

app = noun("OAuth clients: applications that users can connect.")

ClientId = Annotated[str, typer.Argument(metavar="CLIENT_ID", help="As `duograph clients list` shows it.")]


@app.command()
def create(
    *,
    name: Annotated[str, typer.Option(help="Shown to users who are asked to allow it.")],
    redirect_uri: Annotated[
        list[str], typer.Option(metavar="URI", help="An address users may be sent back to; repeat for more.")
    ],
    scope: Annotated[
        list[str] | None, typer.Option(help="A scope it may request; repeat for more. All if left out.")
    ] = None,
    public: Annotated[bool, typer.Option("--public", help="It cannot keep a secret and uses PKCE.")] = False,
    owner: Annotated[str | None, typer.Option(metavar="EMAIL", help="The user who manages it.")] = None,
    as_json: Json = False,
) -> None:
    """Create an OAuth client and show its secret once; a public client has none."""
    from gateway.cli.administration import clients

    clients.create(name, redirect_uri, scope, public=public, owner=owner, as_json=as_json)


@app.command("list")
def list_(limit: Limit = 100, as_json: Json = False) -> None:
    """List OAuth clients of all owners."""
    from gateway.cli.administration import clients

    clients.list_(limit, as_json=as_json)


@app.command("show")
def show_(client_id: ClientId, as_json: Json = False) -> None:
    """Show an OAuth client, without its secret."""
    from gateway.cli.administration import clients

    clients.show_(client_id, as_json=as_json)


@app.command()
def delete(client_id: ClientId, yes: Yes = False, as_json: Json = False) -> None:
    """Delete an OAuth client. Its secret and all tokens that users granted it end at once."""
    confirm(f"This deletes the client {client_id}.", yes=yes)
    from gateway.cli.administration import clients

    clients.delete(client_id, as_json=as_json)
