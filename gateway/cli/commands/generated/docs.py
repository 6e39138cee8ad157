"""`duograph docs`: write the pages of docs/ that are generated from declarations."""

from gateway.cli.kit.output import Check, Json, noun

app = noun("The documentation that is generated from declarations.")


@app.command()
def export(check: Check = False, as_json: Json = False) -> None:
    """Write the generated pages of docs/."""
    from gateway.cli.generated import docs

    docs.export(check=check, as_json=as_json)
