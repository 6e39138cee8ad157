"""PgBouncer in transaction mode: transactions in a row run on different connections of the server."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest
import pytest_asyncio
from sqlalchemy import Integer, bindparam, func, select, text

from storage.engine.connection_terms import Terms
from storage.engine.database import Database
from storage.engine.statements.kept import Kept
from tests.support.callers.surfaces import GraphQL, Rest, Surface
from tests.support.servers.gateways import Gateway, Tenant, make_tenant, run_gateway
from tests.support.servers.pooler import pooler

# Fewer connections than callers.
TASKS, ROUNDS, CONNECTIONS = 8, 12, 3
PREPARED = "SELECT count(*) FROM pg_prepared_statements"
SUMS = [Kept(select(bindparam("number", type_=Integer) + each, func.pg_backend_pid())) for each in range(20)]


@pytest.fixture(scope="module")
def pooled_url(server_url):
    with pooler(server_url, CONNECTIONS) as url:
        yield url


@pytest.fixture(scope="module")
def usual_url(server_url):
    """A pooler with as many connections as PgBouncer has by default."""
    with pooler(server_url) as url:
        yield url


@pytest_asyncio.fixture
async def own_url(server_url, usual_url) -> str:
    """A database of its own, through the pooler."""
    name = f"pooled_{uuid4().hex}"
    server = await asyncpg.connect(server_url.replace("+asyncpg", ""))
    await server.execute(f"CREATE DATABASE {name}")
    await server.close()
    return usual_url.replace("/postgres?", f"/{name}?", 1)


@pytest_asyncio.fixture
async def database(pooled_url) -> AsyncIterator[Database]:
    terms = Terms(pooled=True, statement_seconds=50, lock_seconds=40)
    pooled = Database(pooled_url, pool_size=TASKS, terms=terms)
    yield pooled
    await pooled.close()


async def test_statements_of_many_callers_never_meet_on_a_connection_of_the_server(database):
    async def call(number: int) -> set[int]:
        processes = set()
        for turn in range(ROUNDS):
            place = (turn * 7 + number) % len(SUMS)
            ((total, process),) = await database.fetch(SUMS[place], {"number": number})
            assert total == number + place
            processes.add(process)
            async with database.read() as connection:
                summed = await connection.execute(text(f"SELECT :number + {turn}"), {"number": number})
                assert summed.scalar_one() == number + turn
            async with database.snapshot() as connection:
                async with connection.stream(text(f"SELECT generate_series(1, {100 + number})")) as rows:
                    assert len([row async for row in rows]) == 100 + number
                assert (await connection.fetch(SUMS[number], {"number": turn}))[0][0] == turn + number
        return processes

    seen = await asyncio.gather(*map(call, range(TASKS)))
    # Callers do share the connections, so a statement that stayed would have been found by another.
    assert any(len(processes) > 1 for processes in seen)
    async with database.read() as connection:
        assert (await connection.exec_driver_sql(PREPARED)).scalar_one() == 0


async def test_settings_hold_for_a_transaction_and_do_not_stay(database):
    wanted = {
        "statement_timeout": "50s",
        "lock_timeout": "40s",
        "jit": "off",
        "max_parallel_workers_per_gather": "0",
        "TimeZone": "UTC",
    }
    async with database.write() as connection:
        for name, value in wanted.items():
            assert (await connection.exec_driver_sql(f"SHOW {name}")).scalar_one() == value, name
    async with database.read() as connection:
        for _ in range(2 * CONNECTIONS):
            assert (await connection.exec_driver_sql("SHOW statement_timeout")).scalar_one() == "0"
            assert (await connection.exec_driver_sql("SHOW TimeZone")).scalar_one() == "UTC"


async def test_a_statement_that_fails_before_it_is_sent_keeps_no_connection_of_the_server(database):
    for _ in range(2 * CONNECTIONS):
        with pytest.raises(Exception, match="a kept statement"):
            await database.fetch(SUMS[0], {"number": "three"})
    await asyncio.gather(*(database.fetch(SUMS[1], {"number": 1}) for _ in range(TASKS)))


@pytest_asyncio.fixture
async def gateway(own_url: str, tmp_path: Path) -> AsyncIterator[Gateway]:
    async for running in run_gateway(own_url, tmp_path, database_pooler="transaction"):
        yield running


async def test_a_gateway_serves_many_callers_at_once(gateway):
    async def call(tenant: Tenant, surface_type: type[Surface]) -> None:
        surface = surface_type(gateway.client, gateway.app, tenant.token)
        names = {f"{tenant.slug} {number}" for number in range(3)}
        for name in sorted(names):
            customer = await surface.create_customer(data={"email": f"{name[-1]}@example.com", "name": name})
            assert (await surface.get_customer(id=customer["id"]))["name"] == name
            await surface.ingest_events(data={"events": [{"name": name, "external_customer_id": "ada"}]})
        listed = await surface.list_customers(query=tenant.slug)
        assert {each["name"] for each in listed["data"]} == names
        events = (await surface.list_events(limit=100))["data"]
        assert names == {event["name"] for event in events if event["name"].startswith(tenant.slug)}

    kinds: list[type[Surface]] = [Rest, GraphQL]
    await asyncio.gather(*[call(await make_tenant(gateway), kind) for kind in kinds * 2])
