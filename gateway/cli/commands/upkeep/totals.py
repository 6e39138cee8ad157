"""`duograph totals`: check the totals of lists and the names of events against the rows, and rebuild them."""

from gateway.cli.kit.output import Json, OneWorkspace, noun

app = noun("Check and rebuild the totals of lists and the names of events.")


@app.command()
def verify(workspace: OneWorkspace = None, as_json: Json = False) -> None:
    """Recount all rows and report how many totals differ. Changes nothing."""
    from gateway.cli.upkeep import totals

    totals.TOTALS.verify(workspace, as_json=as_json)


@app.command()
def rebuild(workspace: OneWorkspace = None, as_json: Json = False) -> None:
    """Delete the totals and count all rows again. The gateway may keep running."""
    from gateway.cli.upkeep import totals

    totals.TOTALS.rebuild(workspace, as_json=as_json)
