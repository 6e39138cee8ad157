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
from resolvers.operations.context import Services
from resolvers.operations.http.etags import matches_weakly
from rest_compat.routing.paths import OPENAPI_FILE, OPENAPI_PATH, PREFIX, ROOT_OPENAPI_PATH
from schema.kit.base import entity_tag

# A new version of the gateway may change them; the tag then differs.
_KEEP = {"Cache-Control": "public, max-age=300"}
SDL = "application/graphql; charset=utf-8"


def contract_routes() -> list[Route]:
    """Both as they were generated, so that no process imports FastAPI or prints the schema.

    The OpenAPI document names this gateway, so that a file that was saved knows where it is from.
    """
    return [
        Route(ROOT_OPENAPI_PATH, _file(_openapi, JSON)),
        Route(OPENAPI_PATH, _file(_openapi, JSON)),
        Route(SCHEMA_PATH, _file(_sdl, SDL)),
    ]


def _file(read: Callable[[str], bytes], media_type: str) -> Callable[..., object]:
    async def answer(request: Request) -> Response:
        services: Services = request.app.state.services
        content = read(services.base_url.removesuffix(PREFIX))
        headers = {**_KEEP, "ETag": entity_tag(content)}
        if matches_weakly(request.headers.get("if-none-match", ""), headers["ETag"]):
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=media_type)

    return charged(answer)


@cache
def _openapi(address: str) -> bytes:
    document = orjson.loads(OPENAPI_FILE.read_bytes())
    document["servers"][0]["url"] = address
    return orjson.dumps(document)


@cache
def _sdl(_: str) -> bytes:
    return SCHEMA_FILE.read_bytes()
