"""A receiver of webhooks that answers as it is told, over HTTP."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import orjson
from aiohttp import web
from standardwebhooks import Webhook

Answer = Callable[["Received"], Awaitable[web.StreamResponse]]


@dataclass(frozen=True)
class Received:
    """A request that a receiver got."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def content(self) -> Any:
        return orjson.loads(self.body)

    def verified(self, secret: str) -> Any:
        """The content, as the reference library reads it. Raises `WebhookVerificationError`."""
        return Webhook(secret).verify(self.body, self.headers)


async def accept(received: Received) -> web.StreamResponse:
    """The answer of a receiver that works."""
    return web.Response(text="thank you")


class Receiver:
    """Listens on a port of its own; `received` has every request in order."""

    def __init__(self, answer: Answer = accept) -> None:
        self.answer = answer
        self.received: list[Received] = []
        self._runner: web.AppRunner | None = None
        self.url = ""

    async def start(self, port: int = 0) -> "Receiver":
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._receive)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/hooks"
        return self

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _receive(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        received = Received(request.path, headers, await request.read())
        self.received.append(received)
        return await self.answer(received)
