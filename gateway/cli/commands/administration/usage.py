"""`duograph usage`: what the clients of a workspace use of the API."""

from typing import Annotated
from uuid import UUID

import typer

from gateway.cli.kit.output import Json
from storage.enums import UsageKind, UsageSurface

app = typer.Typer(help="What the clients of a workspace use of the API.", add_completion=False)


@app.command()
def show(
    *,
    workspace: Annotated[str, typer.Option(metavar="SLUG", help="The workspace.")],
    client: Annotated[
        UUID | None, typer.Option(metavar="ID", help="Only this OAuth client or token; all if left out.")
    ] = None,
    surface: Annotated[UsageSurface | None, typer.Option(help="Only this surface.")] = None,
    kind: Annotated[UsageKind | None, typer.Option(help="Only parts of this kind.")] = None,
    deprecated: Annotated[bool, typer.Option("--deprecated", help="Only what is deprecated.")] = False,
    days: Annotated[int, typer.Option(min=1, max=401, help="Of this many days until today, in UTC.")] = 30,
    limit: Annotated[int, typer.Option(min=1, max=100, help="At most this many, most used first.")] = 100,
    as_json: Json = False,
) -> None:
    """List operations, fields, arguments and input fields by client, most used first."""
    from gateway.cli.administration import usage

    filters = {"client_id": client, "surface": surface, "kind": kind, "is_deprecated": deprecated or None}
    usage.show_usage(workspace, filters, days=days, limit=limit, as_json=as_json)
