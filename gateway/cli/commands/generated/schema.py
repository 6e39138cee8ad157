"""`duograph schema`: the GraphQL schema as text."""

from gateway.cli.kit.output import Check, Json, Output, noun

app = noun("The GraphQL schema as text.")


@app.command()
def export(check: Check = False, output: Output = None, as_json: Json = False) -> None:
    """Write schema/schema.graphql."""
    from gateway.cli.generated import schema

    schema.export(check=check, output=output, as_json=as_json)
