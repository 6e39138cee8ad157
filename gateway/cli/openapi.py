"""Exports the REST surface as an OpenAPI document."""

import json

from gateway.cli.snapshots import export as export_to
from rest_compat.openapi import openapi_document
from rest_compat.paths import OPENAPI_FILE


def export(*, check: bool, as_json: bool) -> None:
    document = json.dumps(openapi_document(), indent=2, ensure_ascii=False) + "\n"
    export_to(OPENAPI_FILE, document, check=check, command="duograph openapi export", as_json=as_json)
