"""Every address of the gateway is charged or cheap: nothing can be asked without end."""

import asyncio
import time
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
import pytest_asyncio
from starlette.routing import Route

from gateway.endpoints.health import GOOD_FOR_SECONDS
from storage.migrations import revisions
from tests.support.servers.gateways import Gateway, run_gateway

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


async def test_a_stranger_cannot_ask_for_an_address_without_end(limited: Gateway) -> None:
    free = []
    for number, (method, path) in enumerate(addresses(limited)):
        stranger = f"10.0.{number >> 8}.{number & 255}"
        address = path.replace("{slug}", "nowhere").replace("{", "").replace("}", "")
        headers = {"X-Forwarded-For": stranger, "Accept": PAGES}
        answers = [await limited.client.request(method, address, headers=headers) for _ in range(3)]
        if 429 not in [answer.status_code for answer in answers[1:]]:
            free.append(f"{method} {path}: {answers}")
    assert not free, "\n".join(free)


def addresses(gateway: Gateway) -> list[tuple[str, str]]:
    """Every method of every route that is charged, and addresses that no route or no row can have."""
    routes = [route for route in gateway.app.routes if isinstance(route, Route) and route.path not in FREE]
    known = {(method, route.path) for route in routes for method in (route.methods or {"GET"}) - {"HEAD"}}
    unknown = {("GET", "/api/shares/a%00b"), ("GET", "/nothing/is/here"), ("PUT", "/api/shares/")}
    return sorted(known | unknown)


async def test_readiness_asks_the_database_once_a_second_for_everybody(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    async def counted(*arguments: Any) -> Any:
        nonlocal asked
        asked += 1
        return await revisions.current_revision(*arguments)

    # Only a count can show what is not asked: the answers are the same. It is one moment for all of them.
    moment = time.monotonic() + GOOD_FOR_SECONDS
    monkeypatch.setattr("gateway.endpoints.health.time", SimpleNamespace(monotonic=lambda: moment))
    monkeypatch.setattr("gateway.endpoints.health.current_revision", counted)
    answers = await asyncio.gather(*(gateway.client.get("/ready") for _ in range(50)))
    assert {answer.status_code for answer in answers} == {200}
    assert asked == 1
