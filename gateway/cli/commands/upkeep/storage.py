"""`duograph storage`: how many rows and bytes the tables and workspaces have."""

from typing import Annotated

import typer

from gateway.cli.kit.output import CommandError, Json

app = typer.Typer(help="How many rows and bytes the tables and workspaces have.", add_completion=False)


@app.command()
def show(
    *,
    workspace: Annotated[
        str | None, typer.Option(metavar="SLUG", help="Only what belongs to this workspace.")
    ] = None,
    top: Annotated[
        int | None, typer.Option(min=1, max=100, help="Only this many workspaces, most rows first.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List rows and bytes by table, or by workspace, largest first.

    PostgreSQL estimates rows; SQLite reads its file. Of a workspace, at most 1,000,000 rows of a table are
    counted.
    """
    if workspace is not None and top is not None:
        raise CommandError("--workspace and --top exclude each other: leave one out.", status=2)
    from gateway.cli.upkeep.storage import show_storage

    show_storage(workspace, top, as_json=as_json)
