"""Charges a call for requests that run no operation: pages, discovery and addresses that do not exist."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from resolvers.operations.context import Context
from resolvers.operations.limits.admission import admit


def charged(answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint, charged as one call to the caller's budget. Raises `RateLimited`."""

    async def endpoint(request: Request) -> Response:
        ctx: Context = request.app.state.context(request)
        await admit(ctx.caller, [])
        return await answer(request)

    return endpoint
