"""One log line for each request: what was asked and how it went, never a query, a body or a credential."""

import time

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rest_compat.api import PREFIX

log = structlog.get_logger()

UNMATCHED = "unmatched"


class AccessLogMiddleware:
    """Outermost, so that what the other parts take and refuse is counted too.

    A line has `method`, `path` (the route's template: a path itself may hold a secret), `status` (null
    where the client left first), `milliseconds` until the last byte was handed over, and `request_id`.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

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
                path=path_template(scope),
                status=status,
                milliseconds=round((time.perf_counter() - started) * 1000, 1),
                request_id=request_id,
            )


def path_template(scope: Scope) -> str:
    """The path of the route that took the request, like `/api/shares/{id}`; `unmatched` where none did."""
    template = getattr(scope.get("route"), "path", None)
    if template is None:
        return UNMATCHED
    # An included router's route has the path that it was given, without the prefix of the inclusion.
    in_api = scope["path"].startswith(f"{PREFIX}/") and not template.startswith(f"{PREFIX}/")
    return f"{PREFIX}{template}" if in_api else str(template)
