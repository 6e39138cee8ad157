"""One log line for each request, without its query, body or credentials."""

import time

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.http.route_templates import RouteTemplates, method_of

log = structlog.get_logger()


class AccessLogMiddleware:
    """Wraps the parts that accept and refuse requests, so that both outcomes are logged.

    A line has `method`, `path` (the route's template, because the path itself may contain a secret), `status`
    (null if the client disconnected first), `milliseconds` until the last byte was sent, and `request_id`.
    """

    def __init__(self, app: ASGIApp, templates: RouteTemplates) -> None:
        self._app = app
        self._templates = templates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status: int | None = None
        request_id: str | None = None

        async def send_and_note(message: Message) -> None:
            nonlocal status, request_id
            if message["type"] == "http.response.start":
                status = message["status"]
                request_id = Headers(raw=message["headers"]).get("x-request-id")
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        finally:
            log.info(
                "request",
                method=method_of(scope),
                path=self._templates.of(scope),
                status=status,
                milliseconds=round((time.perf_counter() - started) * 1000, 1),
                request_id=request_id,
            )
