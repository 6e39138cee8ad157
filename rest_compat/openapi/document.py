"""The OpenAPI document, from the declared operations and Pydantic's schemas of their types.

FastAPI's model of OpenAPI checks it; FastAPI itself serves nothing.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

from fastapi.openapi.models import OpenAPI
from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from rest_compat.api import TAGS, documented_routes
from rest_compat.openapi.failures import InvalidError, error_schema, failure_responses
from rest_compat.openapi.headers import RATE_LIMITS
from rest_compat.openapi.operations import operation_entry
from rest_compat.openapi.protocol import BODIES as PROTOCOL_BODIES
from rest_compat.openapi.protocol import PROTOCOL_TAG, protocol_paths
from rest_compat.openapi.reports import REPORTS_TAG, report_entry
from rest_compat.openapi.schemas.links import with_links
from rest_compat.openapi.schemas.named_values import with_named_values
from rest_compat.openapi.schemas.plain import REF, PlainNames, Schema, cleaned, referenced, settled
from rest_compat.openapi.schemas.prices import with_price_unions
from rest_compat.openapi.security import BEARER, SCHEMES
from rest_compat.openapi.webhooks import webhook_bodies, webhook_entries
from rest_compat.protocols.secret_scanning import REPORT_PATH
from rest_compat.routing.router import OperationRoute
from schema.credentials.leaks import LeakVerdict

TITLE, VERSION = "Duograph", version("duograph")
SUMMARY = "REST and GraphQL over the same operations; this is the REST surface."
LICENSE = {"name": "Apache 2.0", "identifier": "Apache-2.0"}
# Without an address: the reference draws it as a link without words, and `servers` has it.
CONTACT = {"name": "The operator"}
# Relative to the document's own address (OpenAPI 3.1, 4.8.5); a gateway writes its public address there.
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
    paths, schemas = described(documented_routes(), (*PROTOCOL_BODIES, InvalidError, LeakVerdict))
    paths[REPORT_PATH] = {"post": report_entry()}
    paths = cleaned(dict(sorted((paths | protocol_paths()).items())))
    webhooks = cleaned(webhook_entries())
    responses = failure_responses()
    others = {"Error": error_schema()} | webhook_bodies()
    schemas = cleaned(with_price_unions(schemas) | others, are_names=True)
    schemas = with_named_values(schemas)
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": TITLE,
            "summary": SUMMARY,
            "version": VERSION,
            "description": DESCRIPTION,
            "contact": CONTACT,
            "license": LICENSE,
        },
        "servers": SERVERS,
        "tags": [*_resource_tags(), PROTOCOL_TAG, REPORTS_TAG],
        "security": [{BEARER: []}],
        "paths": paths,
        "webhooks": webhooks,
        "components": {
            "schemas": referenced(schemas, paths, webhooks, responses),
            "responses": responses,
            "headers": RATE_LIMITS,
            "securitySchemes": SCHEMES,
        },
    }
    OpenAPI.model_validate(document)  # Raises if it is not what OpenAPI allows.
    return document


def described(
    routes: Sequence[OperationRoute], others: Iterable[type] = ()
) -> tuple[dict[str, Any], dict[str, Schema]]:
    """The entries of the routes by path and method, and the schemas of their types and of `others`."""
    inputs: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = [
        *((route.operation_id, "serialization", TypeAdapter(route.served.model)) for route in routes),
        *((route.operation_id, "validation", TypeAdapter(route.operation.arguments)) for route in routes),
        *((other.__name__, "serialization", TypeAdapter(other)) for other in others),
    ]
    answers, definitions = TypeAdapter.json_schemas(
        inputs, ref_template=f"{REF}{{model}}", schema_generator=PlainNames
    )
    schemas = definitions["$defs"]
    paths: dict[str, Any] = {}
    for route in routes:
        entry = operation_entry(route, answers[route.operation_id, "serialization"], schemas)
        paths.setdefault(route.path_format, {})[route.method.lower()] = entry
    return paths, with_links({name: settled(schema) for name, schema in schemas.items()})


def _resource_tags() -> list[dict[str, str]]:
    return [{"name": name, "description": description} for name, description in sorted(TAGS.items())]
