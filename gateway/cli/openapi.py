"""`duograph openapi`: the REST surface as an OpenAPI document."""

import json
from pathlib import Path
from typing import Annotated

import typer

import rest_compat
from gateway.app import make_api
from gateway.cli.output import Json, noun
from gateway.cli.snapshots import export as export_to

app = noun("The REST surface as an OpenAPI document.")

PATH = Path(rest_compat.__path__[0]) / "openapi.json"


@app.command()
def export(
    check: Annotated[bool, typer.Option("--check", help="Only compare; fail if they differ.")] = False,
    as_json: Json = False,
) -> None:
    """Write rest_compat/openapi.json."""
    document = json.dumps(make_api().openapi(), indent=2, ensure_ascii=False) + "\n"
    export_to(PATH, document, check=check, command="duograph openapi export", as_json=as_json)
