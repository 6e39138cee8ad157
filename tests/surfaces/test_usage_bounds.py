"""How much is kept of what clients use, for how long, and that none of it is lost."""

import json
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, update

from storage.retention.deletion import delete_ended
from storage.retention.rules import RULES, USAGE_KEPT_FOR
from storage.tables.base import table_of
from storage.tables.credentials.usage import UsageRow
from storage.usage import usage
from tests.support.callers.surfaces import Rest
from tests.support.measures.usage_reader import NOON
from tests.support.servers.gateways import make_tenant, run_gateway

_counts = table_of(UsageRow)


async def test_clients_beyond_the_limit_of_a_day_are_counted_as_one(reader, gateway, tenant, monkeypatch):
    monkeypatch.setattr(usage, "MOST_CLIENTS", 2)
    workspace = Rest(gateway.client, gateway.app, tenant.token)
    for n in range(4):
        made = await workspace.create_workspace_access_token(
            data={"comment": str(n), "scopes": ["shares:read"]}
        )
        await reader.call("GET", "/api/shares/", token=made["token"])
    rows = [row for row in await reader.rows(kind=["operation"]) if row["name"] == "GET /api/shares/"]
    assert sum(row["requests"] for row in rows) == 4
    assert len({row["client_id"] for row in await reader.rows()} - {None}) == 2
    assert {row["client_kind"] for row in rows} == {"workspace_token", "others"}


async def test_no_more_parts_are_gathered_than_the_limit(reader, monkeypatch):
    await reader.rows()
    monkeypatch.setattr(usage, "MOST_GATHERED", 1)
    for path in ("/api/shares/", "/api/events/", "/api/shares/"):
        await reader.call("GET", path)
    assert await reader.used() == {"GET /api/shares/": 2}


async def test_counts_that_cannot_be_written_are_written_later(reader, gateway, monkeypatch):
    await reader.call("GET", "/api/shares/")

    async def fail(*_: Any) -> None:
        raise OSError("The database is away.")

    with monkeypatch.context() as broken:
        broken.setattr(usage.Usage, "_write", fail)
        with pytest.raises(OSError, match="away"):
            await reader.rows()
    await reader.call("GET", "/api/shares/")
    assert await reader.used() == {"GET /api/shares/": 2}


async def test_counts_are_kept_for_400_days(reader, gateway, tenant):
    await reader.call("GET", "/api/shares/")
    await reader.call("GET", "/api/events/")
    await reader.rows()
    own = _counts.c.workspace_id == UUID(tenant.id)
    ends = NOON.date() - USAGE_KEPT_FOR
    async with gateway.database.write() as connection:
        for name, day in (("shares", ends), ("events", ends - timedelta(days=1))):
            moved = update(_counts).where(own, _counts.c.name == f"GET /api/{name}/")
            await connection.execute(moved.values(day=day))
    of_usage = [rule for rule in RULES if rule.model is UsageRow]
    await delete_ended(gateway.database, of_usage, NOON)
    assert await reader.used() == {"GET /api/shares/": 1}


async def test_a_regular_end_loses_nothing(tmp_path):
    url = f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite"
    async for gateway in run_gateway(url, tmp_path):
        tenant = await make_tenant(gateway)
        headers = {"Authorization": f"Bearer {tenant.token}"}
        for _ in range(5):
            (await gateway.client.get("/api/shares/", headers=headers)).raise_for_status()
    async for gateway in run_gateway(url, tmp_path):
        async with gateway.database.read() as connection:
            counted = await connection.execute(select(_counts.c.requests, _counts.c.day))
            (row,) = counted.all()
        assert row.requests == 5
        assert isinstance(row.day, date)


async def test_nothing_that_callers_wrote_is_kept(reader, gateway, tenant):
    await reader.send(
        "query Secret($secret: String) { secret: shares(query: $secret) { data { other: name } } }",
        secret="of the caller",
    )
    await reader.call("GET", "/api/shares/?query=secret&metadata[secret]=secret")
    written = json.dumps(await reader.rows()).lower()
    assert "secret" not in written.replace(tenant.slug, "")
