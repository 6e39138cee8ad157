"""The port on which Prometheus reads the metrics; all processes of a gateway accept on it."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from uvicorn.server import ServerState

from gateway.monitoring.meters import Meters

METRICS_PATH = "/metrics"


@asynccontextmanager
async def serving_metrics(
    listener: socket.socket, meters: Meters, update: Callable[[], Awaitable[None]]
) -> AsyncIterator[None]:
    """Answer on the listener, in this process's loop, until the block ends, each time after `update`."""

    async def answer(request: Request) -> Response:
        await update()
        # Apart from the loop: it takes longer than a request.
        text, media_type = await asyncio.to_thread(meters.written, request.headers.get("accept", ""))
        return Response(text, media_type=media_type)

    app = Starlette(routes=[Route(METRICS_PATH, answer)])
    config = uvicorn.Config(app, lifespan="off", log_config=None, access_log=False, server_header=False)
    config.load()
    state = ServerState()
    server = await asyncio.get_running_loop().create_server(
        lambda: config.http_protocol_class(config=config, server_state=state, app_state={}),  # type: ignore[call-arg]
        sock=listener.dup(),
    )
    try:
        yield
    finally:
        server.close()
        for connection in list(state.connections):
            connection.shutdown()
