"""How many rows of each kind, and bytes, a workspace may have: none beyond a quota is stored."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from gateway.settings.row_quotas import BYTE_QUOTAS, ROW_QUOTAS
from resolvers.files.quota import set_row_quotas
from resolvers.operations import row_quotas
from storage.tables.base import table_of
from storage.tables.registry import COUNTED_MODELS
from storage.totals.kinds import KINDS, MEASURED_KINDS, bytes_of, usage_of_kind
from storage.types import JsonColumn
from tests.support.callers.refusals import refused
from tests.support.callers.surfaces import Rest
from tests.support.servers.gateways import run_gateway
from tests.support.tenants.file_shares import FREE, PAID, PRICED, at
from tests.support.tenants.uploads import new_file

SHARE = {"name": "Report", "prices": [{"amount_type": "free"}]}


@pytest.fixture
def allow(gateway, tenant):
    async def change(**quotas: int) -> None:
        async with gateway.database.write() as connection:
            await set_row_quotas(connection, UUID(tenant.id), quotas)

    return change


@pytest.fixture
def rows(gateway, tenant):
    async def read(kind: str) -> int:
        async with gateway.database.read() as connection:
            used, _ = await usage_of_kind(connection, UUID(tenant.id), kind)
            return used

    return read


def person() -> dict[str, Any]:
    return {"email": f"{uuid4().hex}@example.com"}


def events(many: int) -> dict[str, Any]:
    return {"events": [{"name": "page.viewed"}] * many}


async def create_member(surface: Any) -> Any:
    team = await surface.create_customer(data=person() | {"type": "team"})
    return await surface.create_member(data=person() | {"customer_id": team["id"]})


async def create_payment(surface: Any) -> Any:
    session = await surface.create_file_share_session(data=PRICED)
    return await surface.record_payment(id=session["id"], data=PAID)


async def create_refund(surface: Any) -> Any:
    payment = await create_payment(surface)
    return await surface.refund_payment(id=payment["id"], data={})


async def create_download(surface: Any) -> Any:
    session = await surface.create_file_share_session(data=FREE)
    return await surface.record_download(id=session["id"], data={"at": at(1)})


CREATE = {
    "customers": lambda surface: surface.create_customer(data=person()),
    "members": create_member,
    "events": lambda surface: surface.ingest_events(data=events(1)),
    "custom_fields": lambda surface: surface.create_custom_field(
        data={"type": "text", "name": "Size", "slug": f"s-{uuid4().hex}"}
    ),
    "sessions": lambda surface: surface.create_file_share_session(data=FREE),
    "downloads": create_download,
    "payments": create_payment,
    "refunds": create_refund,
    "files": lambda surface: surface.create_file(data=new_file(b"content")),
    "shares": lambda surface: surface.create_share(data=SHARE),
}


def test_every_kind_that_is_counted_has_a_quota_and_an_example():
    assert set(CREATE) == set(KINDS.values()) == set(ROW_QUOTAS)


@pytest.mark.parametrize("kind", CREATE)
async def test_nothing_is_created_beyond_the_quota_of_its_kind(surface, allow, rows, kind):
    # A team has its owner besides the member that is added.
    most = 4 if kind == "members" else 2
    await allow(**{kind: most})
    for _ in range(2):
        await CREATE[kind](surface)
    failure = await refused(CREATE[kind](surface), 403, "not_permitted")
    name = kind.replace("_", " ")
    assert f"The workspace has {most} of at most {most} {name}" in failure.detail
    assert "ask the operator" in failure.detail
    assert await rows(kind) == most
    await allow(**{kind: 0})
    await CREATE[kind](surface)


async def test_a_batch_that_does_not_fit_stores_nothing(surface, allow, rows):
    await allow(events=5)
    await surface.ingest_events(data=events(3))
    failure = await refused(surface.ingest_events(data=events(3)), 403, "not_permitted")
    assert "has 3 of at most 5 events, and this adds 3 more" in failure.detail
    assert await rows("events") == 3
    await surface.ingest_events(data=events(2))
    assert await rows("events") == 5


async def test_a_process_remembers_the_room_of_so_many_workspaces_and_looks_again(
    surface, gateway, allow, monkeypatch, tenant
):
    room = gateway.app.state.services.row_quotas._room
    await allow(events=1_000)
    await surface.ingest_events(data=events(1))
    assert (UUID(tenant.id), "events") in room
    await surface.create_customer(data=person())
    monkeypatch.setattr(row_quotas, "MOST_REMEMBERED", 1)
    await allow(events=2)
    await surface.ingest_events(data=events(1))
    await surface.create_share(data=SHARE)
    assert (UUID(tenant.id), "events") not in room
    await refused(surface.ingest_events(data=events(1)), 403, "not_permitted")


async def test_what_is_deleted_makes_room(surface, allow):
    await allow(customers=1)
    customer = await surface.create_customer(data=person())
    failure = await refused(surface.create_customer(data=person()), 403, "not_permitted")
    assert "delete some" in failure.detail
    await surface.delete_customer(id=customer["id"])
    await surface.create_customer(data=person())


async def test_what_is_not_created_may_still_be_changed(surface, allow):
    await allow(customers=1)
    customer = await surface.create_customer(data=person())
    assert (await surface.update_customer(id=customer["id"], data={"name": "Ada"}))["name"] == "Ada"


async def test_the_defaults_hold_for_a_workspace_without_quotas_of_its_own(database_url, tmp_path, tenant):
    async for gateway in run_gateway(database_url, tmp_path, row_quotas="shares=1"):
        surface = Rest(gateway.client, gateway.app, tenant.token)
        await surface.create_share(data=SHARE)
        failure = await refused(surface.create_share(data=SHARE), 403, "not_permitted")
        assert "1 of at most 1 shares" in failure.detail
        await surface.create_customer(data=person())
        async with gateway.database.write() as connection:
            await set_row_quotas(connection, UUID(tenant.id), {"shares": 2})
        await surface.create_share(data=SHARE)


async def test_a_look_at_the_total_is_not_taken_for_each_row(gateway, surface, rows):
    """The quota of a new workspace is far away."""
    told: list[str] = []
    await surface.create_customer(data=person())
    listener = told.append
    gateway.database.listeners.append(listener)
    await surface.create_customer(data=person())
    gateway.database.listeners.remove(listener)
    assert not [text for text in told if "row_quotas" in text]


METADATA = {"key": "é" * 100}
LONG = {
    "customers": lambda surface: surface.create_customer(data=person() | {"metadata": METADATA}),
    "events": lambda surface: surface.ingest_events(
        data={"events": [events(1)["events"][0] | {"metadata": METADATA}]}
    ),
    "shares": lambda surface: surface.create_share(data=SHARE | {"metadata": METADATA}),
    "custom_fields": lambda surface: surface.create_custom_field(
        data={"type": "text", "name": "Size", "slug": f"s-{uuid4().hex}", "metadata": METADATA}
    ),
}


def test_every_kind_with_metadata_has_a_quota_of_bytes_and_an_example():
    for model in COUNTED_MODELS:
        columns = {column.name for column in table_of(model).c if isinstance(column.type, JsonColumn)}
        assert columns <= set(model.measured)
    assert set(LONG) == set(MEASURED_KINDS) == set(BYTE_QUOTAS)


@pytest.mark.parametrize("kind", LONG)
async def test_texts_beyond_the_quota_of_bytes_are_refused(surface, allow, rows, kind):
    # The text has 200 bytes, and 100 characters.
    await allow(**{bytes_of(kind): 400})
    await LONG[kind](surface)
    stored = await rows(bytes_of(kind))
    assert 200 < stored < 300
    failure = await refused(LONG[kind](surface), 403, "not_permitted")
    name = kind.replace("_", " ")
    assert f"The texts and metadata of the workspace's {name} have" in failure.detail
    assert f"{stored} of at most 400 bytes, and this adds {stored}:" in failure.detail
    assert "ask the operator" in failure.detail
    assert await rows(bytes_of(kind)) == stored
    await allow(**{bytes_of(kind): 2 * stored})
    await LONG[kind](surface)


async def test_a_longer_text_counts_and_a_shorter_one_makes_room(surface, allow, rows):
    await allow(**{"shares:bytes": 220})
    share = await LONG["shares"](surface)
    change = surface.update_share(id=share["id"], data={"description": "x" * 11})
    assert "shorten some" in (await refused(change, 403, "not_permitted")).detail
    await surface.update_share(id=share["id"], data={"description": "x" * 11, "metadata": {}})
    assert await rows("shares:bytes") == len("{}") + 11


async def test_deleted_customers_take_room_until_they_are_anonymized(surface, rows):
    for anonymize in (False, True):
        before = await rows("customers:bytes")
        customer = await LONG["customers"](surface)
        stored = await rows("customers:bytes") - before
        await surface.delete_customer(id=customer["id"], anonymize=anonymize)
        left = len("{}{}") if anonymize else stored
        assert await rows("customers:bytes") - before == left


async def test_the_default_of_bytes_holds_for_a_workspace_without_a_quota_of_its_own(
    database_url, tmp_path, tenant
):
    async for gateway in run_gateway(database_url, tmp_path, byte_quotas="shares=100"):
        surface = Rest(gateway.client, gateway.app, tenant.token)
        await refused(LONG["shares"](surface), 403, "not_permitted")
        await surface.create_share(data=SHARE)
