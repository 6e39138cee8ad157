"""How many SQL statements a read takes: a constant number, however many rows and links there are."""

from uuid import UUID

import pytest

from storage.enums import CustomFieldType, FileService
from storage.rows import insert_rows
from storage.tables.custom_fields import CustomFieldRow
from storage.tables.files import FileRow
from storage.tables.shares import ShareCustomFieldRow, ShareMediaRow, SharePriceRow, ShareRow
from tests.support.statements import noted

DOCUMENT = """
{ shares(limit: %d) { meta { total }
    data { name workspace { name } prices { priceAmount } medias { name }
           attachedCustomFields { customField { slug } } } } }
"""


async def make_shares(gateway, tenant, many):
    """Shares that each have a price, two medias and a custom field."""
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
        attached = [{**key, "custom_field_id": fields[0].id, "position": 0, "required": True} for key in keys]
        await insert_rows(connection, ShareCustomFieldRow, attached)


@pytest.fixture
def count(gateway, tenant):
    """Send a request and give its answer with the number of statements it took."""

    async def send(method, path, **options):
        headers = {"Authorization": f"Bearer {tenant.token}"}
        with noted(gateway.database) as statements:
            answer = await gateway.client.request(method, path, headers=headers, **options)
        return answer.json(), len(statements)

    return send


async def test_a_list_of_shares_takes_as_many_statements_for_one_as_for_a_hundred(gateway, tenant, count):
    await make_shares(gateway, tenant, 100)
    await count("GET", "/api/shares/")  # The first use of a token in a minute is written down.

    one, for_one = await count("GET", "/api/shares/?limit=1")
    hundred, for_hundred = await count("GET", "/api/shares/?limit=100")
    assert (len(one["data"]), len(hundred["data"])) == (1, 100)
    assert [len(share["medias"]) for share in hundred["data"]] == [2] * 100
    assert for_one == for_hundred <= 7

    _, for_one = await count("POST", "/graphql", json={"query": DOCUMENT % 1})
    hundred, for_hundred = await count("POST", "/graphql", json={"query": DOCUMENT % 100})
    assert len(hundred["data"]["shares"]["data"]) == 100
    assert for_one == for_hundred <= 8


async def test_a_total_that_is_not_selected_is_not_counted(gateway, tenant, count):
    await make_shares(gateway, tenant, 1)
    await count("GET", "/api/shares/")
    _, with_total = await count("POST", "/graphql", json={"query": "{ shares { meta { total } } }"})
    _, without = await count("POST", "/graphql", json={"query": "{ shares { data { id } } }"})
    assert without == with_total - 1
