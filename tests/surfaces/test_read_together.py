"""The root fields of one document: on PostgreSQL their lists are read by one statement."""

import asyncio
from contextlib import asynccontextmanager
from functools import partial

import pytest
import pytest_asyncio
from sqlalchemy import text

from tests.support.callers.surfaces import Rest
from tests.support.databases.own_databases import own_database
from tests.support.measures.patience import until
from tests.support.servers.gateways import bearer, make_tenant, run_gateway
from tests.support.statements.statements import noted

ROOTS = {
    "ada": 'ada: customers(email: "ada@example.com") { data { name } }',
    "bob": 'bob: customers(email: "bob@example.com", limit: 2) { data { name } meta { total } }',
    "shares": "shares(limit: 5) { data { name } }",
    "events": "events(limit: 1) { data { name } }",
}


@pytest_asyncio.fixture
async def gateway(server_url, tmp_path):
    """A gateway with a database of its own, whose tables a test may lock."""
    async for gateway in run_gateway(await own_database(server_url, tmp_path), tmp_path / "objects"):
        yield gateway


@pytest_asyncio.fixture
async def tenant(gateway):
    tenant = await make_tenant(gateway)
    rest = Rest(gateway.client, gateway.app, tenant.token)
    for name in ("Ada", "Bob"):
        await rest.create_customer(data={"email": f"{name.lower()}@example.com", "name": name})
    return tenant


@pytest.fixture
def ask(gateway, tenant):
    """The answer to a document with these root fields."""

    async def send(*roots):
        sent = {"query": f"{{ {' '.join(roots)} }}"}
        return (await gateway.client.post("/graphql", json=sent, headers=bearer(tenant.token))).json()

    return send


def none_used(gateway):
    """Look whether no connection is in use; background tasks take one for a moment."""

    async def look():
        return gateway.database.pools["primary"].used == 0

    return look


async def test_lists_of_one_document_are_one_statement_and_each_has_its_own_values(gateway, ask):
    alone = [await ask(root) for root in ROOTS.values()]
    await ask(*ROOTS.values())
    with noted(gateway.database) as statements:
        together = await ask(*ROOTS.values())
    assert together == {"data": {name: each["data"][name] for name, each in zip(ROOTS, alone, strict=True)}}
    assert together["data"]["ada"] == {"data": [{"name": "Ada"}]}
    (statement,) = statements
    assert "FROM credentials" in statement


async def test_refused_fields_are_nulls_with_their_errors_in_the_order_of_the_document(ask):
    unknown, wrong = "{ data { id } }", '"2026-02-30"'
    answer = await ask(
        f'first: shares(workspaceId: ["00000000-0000-4000-8000-000000000000"]) {unknown}',
        ROOTS["ada"],
        f"last: events(startTimestamp: {wrong}) {unknown}",
    )
    assert answer["data"] == {"first": None, "ada": {"data": [{"name": "Ada"}]}, "last": None}
    assert [error["path"] for error in answer["errors"]] == [["first"], ["last"]]


async def test_a_statement_that_fails_spoils_no_other_field(gateway, ask):
    async with gateway.database.write() as connection:
        await connection.execute(text("ALTER TABLE shares RENAME TO gone"))
    answer = await ask(*ROOTS.values())
    assert [error["path"] for error in answer["errors"]] == [["shares"]]
    assert answer["data"]["shares"] is None
    assert answer["data"]["ada"] == {"data": [{"name": "Ada"}]}
    await until(none_used(gateway))


# They read in a transaction of their own.
GROUPED = [
    f'{name}: metrics(startDate: "2026-01-01", endDate: "2026-01-31", interval: DAY, metrics: [{metric}], '
    "groupBy: SHARE) { groups { key } }"
    for name, metric in {"sold": "FILE_SHARE_SESSIONS", "fetched": "FILE_SHARE_DOWNLOADS"}.items()
]


@asynccontextmanager
async def locked(gateway, table, waiting):
    """Lock the table. Yields a function that returns once so many statements wait for the lock."""
    statement = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
    async with gateway.database.write() as connection:
        await connection.execute(text(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"))

        async def waits():
            return (await connection.execute(statement)).scalar_one() >= waiting

        yield partial(until, waits)


async def test_fields_that_take_a_connection_each_are_read_at_a_time(gateway, ask):
    alone = [await ask(root) for root in GROUPED]
    async with locked(gateway, "metric_activity_cells", 2) as all_wait:
        asking = asyncio.create_task(ask(ROOTS["ada"], *GROUPED))
        await all_wait()
    answer = await asking
    assert "errors" not in answer
    assert answer["data"]["ada"] == {"data": [{"name": "Ada"}]}
    for name, each in zip(("sold", "fetched"), alone, strict=True):
        assert answer["data"][name] == each["data"][name]


@pytest.mark.parametrize(
    ("table", "roots", "waiting"),
    [("shares", list(ROOTS.values()), 1), ("metric_activity_cells", [ROOTS["ada"], *GROUPED], 2)],
    ids=["read as one", "read apart"],
)
async def test_a_request_that_is_cancelled_while_it_reads_leaves_no_connection_in_use(
    gateway, ask, table, roots, waiting
):
    async with locked(gateway, table, waiting) as all_wait:
        asking = asyncio.create_task(ask(*roots))
        await all_wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    await until(none_used(gateway))
    assert (await ask(*ROOTS.values()))["data"]["ada"] == {"data": [{"name": "Ada"}]}
