"""`duograph clients`: create applications that users can connect."""

from typing import Annotated

import typer

from gateway.cli.output import Json, noun

app = noun("OAuth clients: applications that users can connect.")


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
    from gateway.cli import clients

    clients.create(name, redirect_uri, scope, public=public, owner=owner, as_json=as_json)
