"""The OpenAPI document, which the page of the reference reads."""

from functools import cache

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.rate_limits.charging import charged
from rest_compat.paths import OPENAPI_FILE, OPENAPI_PATH


def reference_route() -> Route:
    """The document as it was generated, so that no process imports FastAPI and makes its models."""

    async def answer(_: Request) -> Response:
        return Response(_compact(), media_type="application/json")

    return Route(OPENAPI_PATH, charged(answer))


@cache
def _compact() -> bytes:
    return orjson.dumps(orjson.loads(OPENAPI_FILE.read_bytes()))
