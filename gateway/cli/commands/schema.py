"""`duograph schema`: the GraphQL schema as text."""

from gateway.cli.output import Check, Json, noun

app = noun("The GraphQL schema as text.")


@app.command()
def export(check: Check = False, as_json: Json = False) -> None:
    """Write schema/schema.graphql."""
    from gateway.cli import schema

    schema.export(check=check, as_json=as_json)
