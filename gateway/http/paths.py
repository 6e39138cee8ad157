"""Paths that cannot name a row."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.web.pages import render_lost


class PathMiddleware:
    """Answers 404 to a path with NUL or lone surrogates, which PostgreSQL cannot store."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_storable(scope["path"]):
            await self._app(scope, receive, send)
            return
        answer = await render_lost(Request(scope), HTTPException(404))
        await answer(scope, receive, send)


def _is_storable(path: str) -> bool:
    if path.isascii():
        return "\x00" not in path
    return "\x00" not in path and not any("\ud800" <= character <= "\udfff" for character in path)
