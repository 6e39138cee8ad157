"""Statements that take long are logged with their operation, never with their values."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from sqlalchemy import text

from gateway.monitoring import statements
from gateway.monitoring.statements import MOST_LINES, Statements
from storage.engine.database import Database
from tests.support.callers.surfaces import GraphQL, Rest
from tests.support.measures.log_lines import own_log_lines
from tests.support.measures.scraping import Scraped
from tests.support.servers.gateways import Gateway, make_tenant, run_gateway

pytestmark = pytest.mark.both_databases


@pytest_asyncio.fixture
async def watching(database_url: str, tmp_path: Path) -> AsyncIterator[Gateway]:
    async for gateway in run_gateway(database_url, tmp_path, slow_statement_ms=50, metrics_port=0):
        yield gateway


async def test_a_statement_that_waits_for_a_lock_is_logged_with_its_operation(
    watching: Gateway, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine many statements take long, and the line that is looked for must not be withheld.
    monkeypatch.setattr(statements, "MOST_LINES", 1_000_000)
    tenant, marker = await make_tenant(watching), f"zq{uuid4().hex}"
    other = Database(database_url)
    for kind in (Rest, GraphQL):
        surface = kind(watching.client, watching.app, tenant.token)
        found: list[dict[str, Any]] = []
        while not found:
            with own_log_lines() as lines:
                await change_while_locked(surface, other, marker)
            found = [line for line in lines if is_of_the_locked_change(line, other)]
        assert marker not in str(found)
        assert found[0]["log_level"] == "warning"
        assert found[0]["milliseconds"] >= 50
    await other.close()
    address, port = watching.app.monitoring.listener.getsockname()
    scraped = Scraped.of(await watching.client.get(f"http://{address}:{port}/metrics"))
    assert scraped.value("duograph_slow_statements_total") >= 2


def is_of_the_locked_change(line: dict[str, Any], other: Database) -> bool:
    """Whether the line is of the statement that waited; on a busy machine others may take long too."""
    if line["event"] != "slow statement" or line["operation"] != "create_custom_field":
        return False
    # On SQLite the first statement of the transaction waits.
    return "custom_fields" in line["statement"] or other.is_sqlite


async def change_while_locked(surface: Any, other: Database, marker: str) -> None:
    """Create a field while another unit of work holds its table, or SQLite's one lock, for a while."""
    async with other.write() as connection:
        lock = "LOCK TABLE custom_fields IN ACCESS EXCLUSIVE MODE"
        await connection.execute(text("SELECT 1" if other.is_sqlite else lock))
        field = {"type": "text", "name": marker, "slug": f"s-{uuid4().hex}"}
        change = asyncio.create_task(surface.create_custom_field(data=field))
        await asyncio.sleep(0.3)
    await change


async def test_lines_are_bounded_and_those_withheld_are_counted(monkeypatch: Any) -> None:
    moment = 1000.0
    monkeypatch.setattr(statements, "monotonic", lambda: moment)
    watched = Statements(10, None)
    with own_log_lines() as lines:
        watched.end("SELECT quick", 0.009)
        for _ in range(MOST_LINES + 5):
            watched.end("SELECT slow", 0.01)
        moment += 60
        watched.end("SELECT slow", 0.01)
        watched.end("SELECT slow", 0.01)
    assert len(lines) == MOST_LINES + 2
    assert watched.slow == MOST_LINES + 7
    assert [line.get("withheld") for line in lines[-3:]] == [None, 5, None]
