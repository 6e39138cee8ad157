"""`duograph openapi`: the REST surface as an OpenAPI document."""

from gateway.cli.kit.output import Check, Json, Output, noun

app = noun("The REST surface as an OpenAPI document.")


@app.command()
def export(check: Check = False, output: Output = None, as_json: Json = False) -> None:
    """Write rest_compat/openapi.json."""
    from gateway.cli.generated import openapi

    openapi.export(check=check, output=output, as_json=as_json)
