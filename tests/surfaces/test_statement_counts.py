"""How many SQL statements a read takes: a constant number, however many rows and links there are."""

from uuid import UUID

import pytest

from storage.enums import CustomFieldType, FileService
from storage.rows.rows import insert_rows
from storage.tables.shares.custom_fields import CustomFieldRow
from storage.tables.shares.files import FileRow
from storage.tables.shares.shares import (
    ShareCustomFieldRow,
    ShareDownloadRow,
    ShareMediaRow,
    SharePriceRow,
    ShareRow,
)
from tests.support.statements.statements import noted

pytestmark = pytest.mark.both_databases

DOCUMENT = """
{ shares(limit: %d) { meta { total }
    data { name workspace { name } prices { priceAmount } medias { name }  downloads { name }
           attachedCustomFields { customField { slug } } } } }
"""


async def make_shares(gateway, tenant, many):
    """Shares that each have a price, two medias, the same as downloads, and a custom field."""
    home = UUID(tenant.id)
    file = {
        "mime_type": "image/png",
        "size": 10,
        "service": FileService.PRODUCT_MEDIA.value,
        "upload_id": "u",
    }
    async with gateway.database.write() as connection:
        files = [{"workspace_id": home, "name": f"{n}.png", "path": f"{n}", **file} for n in range(2)]
        medias = await insert_rows(connection, FileRow, files)
        fields = await insert_rows(
            connection,
            CustomFieldRow,
            [{"workspace_id": home, "type": CustomFieldType.TEXT.value, "slug": "size", "name": "Size"}],
        )
        shares = await insert_rows(
            connection, ShareRow, [{"workspace_id": home, "name": f"Share {n}"} for n in range(many)]
        )
        keys = [{"workspace_id": home, "share_id": share.id} for share in shares]
        prices = [{**key, "amount_type": "fixed", "price_amount": 5, "price_currency": "usd"} for key in keys]
        await insert_rows(connection, SharePriceRow, prices)
        embedded = [
            {**key, "file_id": media.id, "position": place}
            for key in keys
            for place, media in enumerate(medias)
        ]
        await insert_rows(connection, ShareMediaRow, embedded)
        await insert_rows(connection, ShareDownloadRow, embedded)
        attached = [{**key, "custom_field_id": fields[0].id, "position": 0, "required": True} for key in keys]
        await insert_rows(connection, ShareCustomFieldRow, attached)


@pytest.fixture
def noting(gateway, tenant):
    """Send a request and give its answer with the statements it took."""

    async def send(method, path, **options):
        headers = {"Authorization": f"Bearer {tenant.token}"}
        with noted(gateway.database) as statements:
            answer = await gateway.client.request(method, path, headers=headers, **options)
        return answer.json(), statements

    return send


async def test_a_list_of_shares_takes_one_statement_with_the_credential_s(gateway, tenant, noting):
    """On SQLite each is one of its own, and before a new document the credential is looked up alone."""
    await make_shares(gateway, tenant, 100)
    for _ in range(2):  # The first use of a token in a minute is written down, and read with the second.
        await noting("GET", "/api/shares/")
    of_a_known_form = 2 if gateway.database.is_sqlite else 1

    for limit in (1, 100):
        listed, statements = await noting("GET", f"/api/shares/?limit={limit}")
        for name in ("medias", "downloads"):
            assert [len(share[name]) for share in listed["data"]] == [2] * limit
        assert len(statements) == of_a_known_form

    # The link to workspaces is a part of it.
    for limit, many in ((1, 2), (1, of_a_known_form), (100, of_a_known_form)):
        listed, statements = await noting("POST", "/graphql", json={"query": DOCUMENT % limit})
        assert len(listed["data"]["shares"]["data"]) == limit
        assert len(statements) == many


async def test_what_is_not_selected_is_not_read(gateway, tenant, noting):
    await make_shares(gateway, tenant, 1)
    await noting("GET", "/api/shares/")
    _, statements = await noting(
        "POST", "/graphql", json={"query": "{ shares { meta { total } data { prices { id } } } }"}
    )
    assert "list_totals" in statements[-1]
    assert "share_prices" in statements[-1]
    assert "share_medias" not in statements[-1]
    assert "share_downloads" not in statements[-1]
    _, statements = await noting("POST", "/graphql", json={"query": "{ shares { data { id } } }"})
    assert "list_totals" not in statements[-1]
    assert "share_prices" not in statements[-1]


async def test_a_new_customer_takes_two_statements_with_its_member_event_and_totals(gateway, noting):
    """On SQLite the second one travels with the COMMIT."""
    for name in ("ada", "grace"):  # The first one looks at quotas and marks the token as used.
        body = {"email": f"{name}@example.com", "name": name}
        created, statements = await noting("POST", "/api/customers/", json=body)
        assert [member["role"] for member in created["members"]] == ["owner"]
    assert len(statements) == (2 if gateway.database.is_sqlite else 3)


async def test_shares_and_what_is_sold_of_them_are_written_by_kept_statements(gateway, tenant, surface):
    customer = await surface.create_customer(data={"email": "ada@example.com"})
    who, price = {"customer_id": customer["id"]}, {"amount": 700, "currency": "usd"}
    # A customer gets its number once, with the first of its sessions.
    await surface.create_file_share_session(data={**who, "file_size_bytes": 7})
    with noted(gateway.database, kept=False) as built:
        prices = [{"amount_type": "fixed", "price_amount": 700}]
        share = await surface.create_share(data={"name": "Tide tables", "prices": prices})
        data = {
            **who,
            "share_id": share["id"],
            "file_size_bytes": 7,
            "price_amount": 700,
            "external_id": "s-1",
        }
        session = await surface.create_file_share_session(data=data)
        await surface.record_download(id=session["id"], data={"external_id": "d-1"})
        payment = await surface.record_payment(id=session["id"], data={**price, "external_id": "p-1"})
        await surface.complete_file_share_session(id=session["id"], data={})
        await surface.refund_payment(id=payment["id"], data={"amount": 200})
        await surface.update_share(id=share["id"], data={"name": "Tides"})
    # Access tokens are marked as used once in a while.
    assert [each for each in built if "credentials" not in each] == []


async def test_what_a_batch_of_events_measures_is_written_with_what_it_counts(gateway, noting):
    events = {"events": [{"name": name} for name in ("opened", "opened", "closed")]}
    await noting("POST", "/api/events/ingest", json=events)
    answer, statements = await noting("POST", "/api/events/ingest", json=events)
    assert answer["inserted"] == 3
    with_facts = [statement for statement in statements if "metric_facts" in statement]
    # On SQLite they travel with the COMMIT.
    assert len(with_facts) == (0 if gateway.database.is_sqlite else 1)
    assert all("event_deltas" in each and "INTO changes" in each for each in with_facts)
