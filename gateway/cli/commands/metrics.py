"""`duograph metrics`: check the cells of metrics against the log, and rebuild them."""

from typing import Annotated

import typer

from gateway.cli.output import Json, noun

app = noun("Check and rebuild the cells that metrics are read from.")

Slug = Annotated[
    str | None, typer.Option("--workspace", metavar="SLUG", help="Only this workspace; all if left out.")
]


@app.command()
def verify(workspace: Slug = None, as_json: Json = False) -> None:
    """Recount every cell from the log and report how many differ. Changes nothing."""
    from gateway.cli import metrics

    metrics.CELLS.verify(workspace, as_json=as_json)


@app.command()
def rebuild(workspace: Slug = None, as_json: Json = False) -> None:
    """Delete the cells and rebuild them from the log. The gateway may keep running."""
    from gateway.cli import metrics

    metrics.CELLS.rebuild(workspace, as_json=as_json)
