"""One log line for each request: what was asked and how it went, never a query, a body or a credential."""

import time
from collections.abc import Iterable
from typing import Any

import structlog
from starlette.datastructures import Headers
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rest_compat.api import PREFIX

log = structlog.get_logger()

UNMATCHED = "unmatched"


class AccessLogMiddleware:
    """Outermost, so that what the other parts take and refuse is counted too.

    A line has `method`, `path` (the route's template: a path itself may hold a secret), `status` (null
    where the client left first), `milliseconds` until the last byte was handed over, and `request_id`.
    """

    def __init__(self, app: ASGIApp, routes: Iterable[BaseRoute]) -> None:
        self._app = app
        self._templates: dict[Any, str] = dict(map(_endpoint_and_path, _plain(routes)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status: int | None = None
        request_id: str | None = None

        async def note(message: Message) -> None:
            nonlocal status, request_id
            if message["type"] == "http.response.start":
                status = message["status"]
                request_id = Headers(raw=message["headers"]).get("x-request-id")
            await send(message)

        try:
            await self._app(scope, receive, note)
        finally:
            log.info(
                "request",
                method=scope["method"],
                path=self._template(scope),
                status=status,
                milliseconds=round((time.perf_counter() - started) * 1000, 1),
                request_id=request_id,
            )

    def _template(self, scope: Scope) -> str:
        """Like `/api/shares/{id}`; `unmatched` where no route took the request."""
        route = scope.get("route")
        if route is None:
            return self._templates.get(scope.get("endpoint"), UNMATCHED)
        # The route of an operation has the path that it was declared with, without the API's prefix.
        path: str = route.path
        return PREFIX + path


def _plain(routes: Iterable[BaseRoute]) -> Iterable[Route | Mount]:
    return (route for route in routes if isinstance(route, Route | Mount))


def _endpoint_and_path(route: Route | Mount) -> tuple[Any, str]:
    """What the scope says of a plain route that was taken, and its path."""
    return (route.endpoint if isinstance(route, Route) else route.app), route.path
