"""The contracts, for generators of clients and the pages: the OpenAPI document and the GraphQL schema."""

from collections.abc import Callable
from functools import cache

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.rate_limits.charging import charged
from resolvers.graph.contract import SCHEMA_FILE, SCHEMA_PATH
from resolvers.operations.answers import JSON
from resolvers.operations.etags import matches_weakly
from rest_compat.routing.paths import OPENAPI_FILE, OPENAPI_PATH, ROOT_OPENAPI_PATH
from schema.kit.base import entity_tag

# A new version of the gateway may change them; the tag then differs.
_KEEP = {"Cache-Control": "public, max-age=300"}
SDL = "application/graphql; charset=utf-8"


def contract_routes() -> list[Route]:
    """Both as they were generated, so that no process imports FastAPI or prints the schema."""
    return [
        Route(ROOT_OPENAPI_PATH, _file(_openapi, JSON)),
        Route(OPENAPI_PATH, _file(_openapi, JSON)),
        Route(SCHEMA_PATH, _file(_sdl, SDL)),
    ]


def _file(read: Callable[[], bytes], media_type: str) -> Callable[..., object]:
    async def answer(request: Request) -> Response:
        content = read()
        headers = {**_KEEP, "ETag": entity_tag(content)}
        if matches_weakly(request.headers.get("if-none-match", ""), headers["ETag"]):
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=media_type)

    return charged(answer)


@cache
def _openapi() -> bytes:
    return orjson.dumps(orjson.loads(OPENAPI_FILE.read_bytes()))


@cache
def _sdl() -> bytes:
    return SCHEMA_FILE.read_bytes()
