"""The floor of the benchmarks is honest: it answers and writes what the gateway answers and writes."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx
import pytest
from sqlalchemy import select
from sqlmodel import SQLModel

from bench.floor.app import app as floor
from bench.kit.documents import DOCUMENTS
from gateway.app import create_app
from gateway.settings.settings import Settings
from storage.migrations.run import upgrade
from tests.support.databases.own_databases import own_database
from tests.support.servers.gateways import SECRET, Gateway, Tenant, make_tenant

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
_SIGNED = {"next_cursor", "cursor", "startCursor", "endCursor"}
COST = {"amount": "12.5", "currency": "usd"}
NAMES = ["page.viewed", "page.viewed", "signed.up"]


@pytest.fixture
async def pair(postgresql_url, tmp_path, monkeypatch):
    """The gateway, and a client of it and of the floor, on a database of their own.

    Without background tasks, which would move rows meanwhile. The floor does not count bytes: where others
    count them again, its rows would be missing.
    """
    url = await own_database(postgresql_url, tmp_path)
    paths = {"object_store": str(tmp_path), "outbox": str(tmp_path / "outbox")}
    application = create_app(
        Settings(
            database_url=url,
            secret_key=SECRET,
            base_url="http://gateway/api",
            rate_limit=0,
            **paths,
        )
    )
    database = application.state.services.database
    await upgrade(database)
    monkeypatch.setenv("DATABASE", url.replace("+asyncpg", ""))
    async with (
        floor.router.lifespan_context(floor),
        httpx.AsyncClient(transport=httpx.ASGITransport(application), base_url="http://gateway") as ours,
        httpx.AsyncClient(transport=httpx.ASGITransport(floor), base_url="http://floor") as by_hand,
    ):
        yield Gateway(application, ours, database, tmp_path / "outbox"), by_hand
    await database.close()


async def call(client: httpx.AsyncClient, tenant: Tenant, method: str, path: str, **sent: Any) -> Any:
    answer = await client.request(method, path, headers={"Authorization": f"Bearer {tenant.token}"}, **sent)
    assert answer.is_success, answer.text
    return answer.json()


async def test_the_floor_gives_the_same_answers(pair):
    gateway, by_hand = pair
    tenant = await make_tenant(gateway)
    await fill(gateway, tenant)
    customers = await call(gateway.client, tenant, "GET", "/api/customers/")
    paths = [f"/api/customers/{customer['id']}" for customer in customers["data"]]
    for path in ["/health", "/api/shares/?limit=10", "/api/shares/?limit=2", "/api/events/?limit=10", *paths]:
        expected = await call(gateway.client, tenant, "GET", path)
        assert plain(await call(by_hand, tenant, "GET", path)) == plain(expected), path


async def test_the_floor_answers_documents_with_links_as_the_gateway_does(pair):
    gateway, by_hand = pair
    tenant = await make_tenant(gateway)
    await fill(gateway, tenant)
    shares = (await call(gateway.client, tenant, "GET", "/api/shares/"))["data"]
    customers = (await call(gateway.client, tenant, "GET", "/api/customers/"))["data"]
    for number, share in enumerate(shares):
        about = {"share_id": share["id"], "customer_id": customers[number % 2]["id"], "file_size_bytes": 1}
        path = "/api/file-share-sessions/"
        session = await call(gateway.client, tenant, "POST", path, json={**about, "price_amount": 500})
        payments = f"{path}{session['id']}/payments"
        for amount in range(2 * number):
            payment = {"amount": 1 + amount, "currency": "usd"}
            await call(gateway.client, tenant, "POST", payments, json=payment)
    for document in DOCUMENTS:
        sent = {"query": document.text, "variables": {"id": session["id"]} if "$id" in document.text else {}}
        expected = await call(gateway.client, tenant, "POST", "/graphql", json=sent)
        answer = await call(by_hand, tenant, "GET", document.path.replace("ID", session["id"]))
        assert "errors" not in expected
        assert plain(answer) == plain(expected), document.name


async def test_the_floor_writes_the_same_rows(pair):
    gateway, by_hand = pair
    ours, theirs = await make_tenant(gateway), await make_tenant(gateway)
    for client, tenant in ((gateway.client, ours), (by_hand, theirs)):
        customer = {"email": "Ada@example.com", "name": "Ada"}
        events = {"events": [{"name": name} for name in NAMES]}
        answers = [
            await call(client, tenant, "POST", "/api/customers/", json=customer),
            await call(client, tenant, "POST", "/api/events/ingest", json=events),
        ]
        if client is gateway.client:
            expected = plain(answers, hide_ids=True)
    assert plain(answers, hide_ids=True) == expected
    assert await written(gateway, theirs) == await written(gateway, ours)


@pytest.mark.parametrize("change", ["revoked_at = now()", "expires_at = now()", "scopes = '[]'"])
async def test_the_floor_refuses_a_token_that_is_not_live_or_lacks_the_scope(pair, change):
    gateway, by_hand = pair
    tenant = await make_tenant(gateway)
    headers = {"Authorization": f"Bearer {tenant.token}"}
    assert (await by_hand.get("/api/shares/", headers=headers)).status_code == 200
    async with gateway.database.write() as connection:
        await connection.exec_driver_sql(
            f"UPDATE credentials SET {change} WHERE workspace_id = '{tenant.id}'"
        )
    assert (await by_hand.get("/api/shares/", headers=headers)).status_code == 401


async def fill(gateway: Gateway, tenant: Tenant) -> None:
    """Shares with prices of every kind, customers with and without an address, an event with a child."""
    field = {"type": "text", "slug": "dedication", "name": "Dedication", "properties": {"max_length": 80}}
    custom_field = await call(gateway.client, tenant, "POST", "/api/custom-fields/", json=field)
    attached = [{"custom_field_id": custom_field["id"], "required": True}]
    fixed = {"amount_type": "fixed", "price_amount": 100, "price_currency": "usd"}
    for share in (
        {"name": "Poster", "prices": [fixed], "attached_custom_fields": attached},
        {"name": "Sounds", "prices": [{"amount_type": "custom", "minimum_amount": 1}]},
        {"name": "Pictures", "prices": [{"amount_type": "free"}], "metadata": {"year": 2026}},
    ):
        await call(gateway.client, tenant, "POST", "/api/shares/", json=share)
    for customer in (
        {"email": "ada@example.com", "billing_address": {"country": "FR"}, "metadata": {"size": 1.5}},
        {"email": "Bob@example.com", "name": "Bob", "external_id": "bob"},
    ):
        await call(gateway.client, tenant, "POST", "/api/customers/", json=customer)
    parent = {"name": "sent", "external_id": "first", "external_customer_id": "bob"}
    events = [parent, {"name": "opened", "parent_id": "first", "cost": COST}]
    await call(gateway.client, tenant, "POST", "/api/events/ingest", json={"events": events})


def plain(value: Any, *, hide_ids: bool = False) -> Any:
    """The value with one spelling for a moment, without nulls, ids if asked, and what is signed."""
    if isinstance(value, dict):
        return {
            name: plain(each, hide_ids=hide_ids)
            for name, each in value.items()
            if each is not None
            and name not in _SIGNED
            and not (hide_ids and re.search(r"(^|_)(ids?|at)$", name))
        }
    if isinstance(value, list):
        return [plain(each, hide_ids=hide_ids) for each in value]
    if isinstance(value, str) and MOMENT.fullmatch(value):
        return datetime.fromisoformat(value)
    return value


async def written(gateway: Gateway, tenant: Tenant) -> dict[str, list[Any]]:
    """The rows of the workspace by table, with names for ids, and without moments."""
    rows = {}
    async with gateway.database.read() as connection:
        for table in SQLModel.metadata.sorted_tables:
            if "workspace_id" in table.c and table.name not in ("credentials", "workspace_members"):
                of_tenant = select(table).where(table.c.workspace_id == UUID(tenant.id))
                found = [row._asdict() for row in await connection.execute(of_tenant)]
                # The floor counts no bytes, which only quotas need.
                rows[table.name] = [row for row in found if not str(row.get("list")).endswith(":bytes")]
    names = {UUID(tenant.id): "the workspace", **dict(ids_in(rows))}
    return {
        table: sorted((named(row, names) for row in of_table), key=repr) for table, of_table in rows.items()
    }


def ids_in(rows: dict[str, list[dict[str, Any]]]) -> Iterator[tuple[UUID, str]]:
    for table, of_table in rows.items():
        for row in of_table:
            if "id" in row:
                yield row["id"], f"an id of {table}"


def named(row: dict[str, Any], names: dict[UUID, str]) -> dict[str, Any]:
    """The row with `names` for its ids, also in its metadata."""
    by_text = {str(id): name for id, name in names.items()}

    def name_of(column: str, value: Any) -> Any:
        is_counted = column in ("moment", "measured_from") and value is not None
        if isinstance(value, datetime) or is_counted:
            return "a moment"
        if isinstance(value, UUID):
            return names.get(value, "an unknown id")
        if isinstance(value, dict):
            return {key: by_text.get(str(each), each) for key, each in value.items()}
        return by_text.get(value, value) if isinstance(value, str) else value

    return {column: name_of(column, value) for column, value in row.items()}
