"""Exports the REST surface as an OpenAPI document."""

import json

from gateway.cli.generated.snapshots import export as export_to
from rest_compat.openapi.document import openapi_document
from rest_compat.routing.paths import OPENAPI_FILE


def export(*, check: bool, output: str | None, as_json: bool) -> None:
    document = json.dumps(openapi_document(), indent=2, ensure_ascii=False) + "\n"
    command = "duograph openapi export"
    export_to(OPENAPI_FILE, document, check=check, output=output, command=command, as_json=as_json)
