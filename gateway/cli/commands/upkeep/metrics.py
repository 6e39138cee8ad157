"""`duograph metrics`: check the cells of metrics against the log, and rebuild them."""

from gateway.cli.kit.output import Json, OneWorkspace, noun

app = noun("Check and rebuild the cells that metrics are read from.")


@app.command()
def verify(workspace: OneWorkspace = None, as_json: Json = False) -> None:
    """Recount every cell from the log and report how many differ. Changes nothing."""
    from gateway.cli.upkeep import metrics

    metrics.CELLS.verify(workspace, as_json=as_json)


@app.command()
def rebuild(workspace: OneWorkspace = None, as_json: Json = False) -> None:
    """Delete the cells and rebuild them from the log. The gateway may keep running."""
    from gateway.cli.upkeep import metrics

    metrics.CELLS.rebuild(workspace, as_json=as_json)
