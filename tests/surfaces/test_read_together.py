"""The root fields of one document: on PostgreSQL their lists are read by one statement."""

import asyncio

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


async def test_a_request_that_is_cancelled_while_it_reads_leaves_no_connection_in_use(gateway, ask):
    async with gateway.database.write() as connection:
        await connection.execute(text("LOCK TABLE shares IN ACCESS EXCLUSIVE MODE"))
        waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
        asking = asyncio.create_task(ask(*ROOTS.values()))

        async def waits():
            return (await connection.execute(waiting)).scalar_one()

        await until(waits)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    await until(none_used(gateway))
    assert (await ask(*ROOTS.values()))["data"]["ada"] == {"data": [{"name": "Ada"}]}
