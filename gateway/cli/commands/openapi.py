"""`duograph openapi`: the REST surface as an OpenAPI document."""

from gateway.cli.output import Check, Json, noun

app = noun("The REST surface as an OpenAPI document.")


@app.command()
def export(check: Check = False, as_json: Json = False) -> None:
    """Write rest_compat/openapi.json."""
    from gateway.cli import openapi

    openapi.export(check=check, as_json=as_json)
