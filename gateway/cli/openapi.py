"""Exports the REST surface as an OpenAPI document."""

import json
from pathlib import Path

import rest_compat
from gateway.app import make_api
from gateway.cli.snapshots import export as export_to

PATH = Path(rest_compat.__path__[0]) / "openapi.json"


def export(*, check: bool, as_json: bool) -> None:
    document = json.dumps(make_api().openapi(), indent=2, ensure_ascii=False) + "\n"
    export_to(PATH, document, check=check, command="duograph openapi export", as_json=as_json)
