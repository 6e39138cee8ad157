"""Every address of the gateway is charged or cheap: nothing can be asked without end."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from zlib import crc32

import pytest
import pytest_asyncio
from starlette.routing import Route

from gateway.app import create_app
from gateway.settings.settings import Settings
from storage.migrations import revisions
from tests.support.gateways import SECRET, Gateway, run_gateway

# Cheap, or paid for by the call that gave the address out; what is wrong with one of these is charged.
FREE = {"/health", "/ready", "/objects", "/media/{path:path}"}
PAGES = "text/html"


@pytest_asyncio.fixture(scope="module")
async def limited(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    folder = tmp_path_factory.mktemp("limited")
    url = f"sqlite+aiosqlite:///{folder}/duograph.sqlite"
    limits = {"rate_limit": 1, "rate_limit_restricted": 1, "open_registration": True}
    async for gateway in run_gateway(url, folder, trusted_proxies="127.0.0.1/32", **limits):
        yield gateway


def addresses() -> list[Any]:
    app = create_app(Settings(secret_key=SECRET, open_registration=True))
    found = {}
    routes = [(route.path, route.methods) for route in app.routes if isinstance(route, Route)]
    for path, methods in routes:
        for method in sorted((methods or {"GET"}) - {"HEAD"}):
            if path not in FREE:
                found[f"{method} {path}"] = (method, path)
    found["GET what no row can have"] = ("GET", "/api/shares/a%00b")
    found["GET nothing"] = ("GET", "/nothing/is/here")
    found["PUT nothing"] = ("PUT", "/api/shares/")
    return [pytest.param(*entry, id=name) for name, entry in found.items()]


@pytest.mark.parametrize(("method", "path"), addresses())
async def test_a_stranger_cannot_ask_for_an_address_without_end(
    limited: Gateway, method: str, path: str, request: pytest.FixtureRequest
) -> None:
    number = crc32(request.node.name.encode()) % 2**24
    stranger = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
    path = path.replace("{slug}", "nowhere").replace("{", "").replace("}", "")
    headers = {"X-Forwarded-For": stranger, "Accept": PAGES}
    statuses = [(await limited.client.request(method, path, headers=headers)).status_code for _ in range(3)]
    assert 429 in statuses[1:]


async def test_readiness_asks_the_database_once_a_second_for_everybody(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    async def counted(*arguments: Any) -> Any:
        nonlocal asked
        asked += 1
        return await revisions.current_revision(*arguments)

    # Only a count can show what is not asked: the answers are the same.
    monkeypatch.setattr("gateway.endpoints.health.current_revision", counted)
    answers = await asyncio.gather(*(gateway.client.get("/ready") for _ in range(50)))
    assert {answer.status_code for answer in answers} == {200}
    assert asked <= 2
