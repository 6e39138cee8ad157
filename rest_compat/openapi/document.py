"""The OpenAPI document: FastAPI's models, with what it does not know about operations added.

FastAPI serves nothing: it gets functions with the parameters of operations, to document them.
"""

from functools import cache
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter
from fastapi.openapi.utils import get_openapi

from rest_compat.api import TAGS, documented_routes
from rest_compat.openapi.failures import failure_responses, failure_schemas
from rest_compat.openapi.operations import complete, document_route
from rest_compat.openapi.prices import with_price_unions
from rest_compat.openapi.protocol import PROTOCOL_TAG, protocol_paths, protocol_schemas
from rest_compat.openapi.reports import REPORTS_TAG, complete_reports, document_reports
from rest_compat.openapi.schemas import cleaned, referenced, settled, with_plain_names
from rest_compat.openapi.security import BEARER, SCHEMES

TITLE, VERSION = "Duograph", version("duograph")
SUMMARY = "REST and GraphQL over the same operations; this is the REST surface."
# Relative to the document's own address (OpenAPI 3.1, 4.8.5): the gateway that serves it.
SERVERS = [{"url": "/", "description": "The gateway that serves this document."}]
DESCRIPTION = """
Send `Authorization: Bearer <token>` with every request; bodies are JSON. Every operation is also a field of
the GraphQL endpoint `/graphql`, which runs the same code.

An error has the body `{"error": code, "detail": ...}`. With status 422, `detail` lists every problem as
`{loc, msg, type, input}`. Lists accept `page` and `limit`, or `after` with a page's `next_cursor`.
`PATCH` keeps the values of fields that are left out. `POST` and `PATCH` accept an `Idempotency-Key`; reads of
single resources return an `ETag`.
"""


@cache
def openapi_document() -> dict[str, Any]:
    """The document of the whole REST surface."""
    router = APIRouter()
    for route in documented_routes():
        document_route(router, route)
    document_reports(router)
    document = get_openapi(title=TITLE, version=VERSION, summary=SUMMARY, routes=router.routes)
    paths = document["paths"]
    for route in documented_routes():
        complete(paths[route.path_format][route.method.lower()], route)
    complete_reports(paths)
    paths = dict(sorted((paths | protocol_paths()).items()))
    responses = failure_responses()
    schemas = with_price_unions(settled(document["components"]["schemas"]))
    schemas |= failure_schemas() | protocol_schemas()
    return with_plain_names(
        {
            "openapi": document["openapi"],
            "info": {**document["info"], "description": DESCRIPTION},
            "servers": SERVERS,
            "tags": [*_resource_tags(), PROTOCOL_TAG, REPORTS_TAG],
            "security": [{BEARER: []}],
            "paths": cleaned(paths),
            "components": {
                "schemas": cleaned(referenced(schemas, paths, responses), are_names=True),
                "responses": responses,
                "securitySchemes": SCHEMES,
            },
        }
    )


def _resource_tags() -> list[dict[str, str]]:
    return [{"name": name, "description": description} for name, description in sorted(TAGS.items())]
