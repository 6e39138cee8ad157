"""Lists of customers: what they find, in which order, and what each surface shows of an item."""

import pytest

PEOPLE = [
    {"email": "zoe@example.com", "name": "Zoë", "external_id": "C-1"},
    {"email": "Ada@example.com", "name": "ada lovelace", "metadata": {"plan": "pro", "seats": 3}},
    {"email": "grace@navy.example", "name": "Grace 100%", "external_id": "c-2"},
    {"email": "nobody@example.com"},
]


@pytest.fixture
async def people(surface):
    return [await surface.create_customer(data=data) for data in PEOPLE]


async def emails(surface, **arguments):
    return [customer["email"] for customer in (await surface.list_customers(**arguments))["data"]]


async def test_the_newest_come_first(surface, people):
    assert await emails(surface) == [person["email"] for person in reversed(people)]


@pytest.mark.parametrize(
    ("sorting", "order"),
    [
        (["email"], ["Ada@", "grace@", "nobody@", "zoe@"]),
        (["-email"], ["zoe@", "nobody@", "grace@", "Ada@"]),
        (["name"], ["Ada@", "grace@", "zoe@", "nobody@"]),
        (["-name"], ["zoe@", "grace@", "Ada@", "nobody@"]),
        (["created_at"], ["zoe@", "Ada@", "grace@", "nobody@"]),
    ],
)
async def test_lists_are_sorted_by_page_and_by_cursor(surface, people, sorting, order):
    whole = await emails(surface, sorting=sorting)
    assert [email.split("@")[0] + "@" for email in whole] == order
    page = await surface.list_customers(sorting=sorting, limit=2)
    rest = await surface.list_customers(sorting=sorting, limit=2, after=page["meta"]["next_cursor"])
    assert [item["email"] for item in page["data"] + rest["data"]] == whole


@pytest.mark.parametrize("limit", [1, 6, 7, 11, 12, 13])
async def test_pages_of_any_size_show_each_item_once(surface, limit):
    made = [await surface.create_customer(data={"email": f"{place}@example.com"}) for place in range(12)]
    whole = [customer["email"] for customer in reversed(made)]
    by_page, by_cursor, after = [], [], {}
    for number in range(1, -(-12 // limit) + 1):
        page = await surface.list_customers(limit=limit, page=number)
        assert page["meta"]["pages"] == -(-12 // limit)
        by_page.append(page)
        by_cursor.append(await surface.list_customers(limit=limit, **after))
        after = {"after": by_cursor[-1]["meta"]["next_cursor"]}
    for pages in (by_page, by_cursor):
        assert [item["email"] for page in pages for item in page["data"]] == whole
        assert all(len(page["data"]) <= limit for page in pages)
        assert [page["meta"]["next_cursor"] is None for page in pages] == [False] * (len(pages) - 1) + [True]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"email": "ADA@example.com"}, ["Ada@example.com"]),
        ({"email": "ada@example"}, []),
        ({"query": "EXAMPLE.com"}, ["nobody@example.com", "Ada@example.com", "zoe@example.com"]),
        ({"query": "ZOË"}, ["zoe@example.com"]),
        ({"query": "100%"}, ["grace@navy.example"]),
        ({"query": "_"}, []),
        ({"query": "c-"}, ["grace@navy.example"]),
        ({"query": "C-1"}, ["zoe@example.com"]),
        ({"query": "-1"}, []),
        ({"metadata": [{"key": "plan", "value": "pro"}]}, ["Ada@example.com"]),
        ({"metadata": [{"key": "plan", "value": "pro"}, {"key": "seats", "value": "4"}]}, []),
        ({"metadata": [], "query": "C-1"}, ["zoe@example.com"]),
        ({"query": "example.com", "email": "zoe@example.com"}, ["zoe@example.com"]),
    ],
)
async def test_lists_are_filtered(surface, people, filters, found):
    assert await emails(surface, **filters) == found


async def test_an_id_of_the_last_letter_there_is_is_found_by_how_it_begins(surface, people):
    last = await surface.create_customer(data={"email": "last@example.com", "external_id": "\U0010ffff-1"})
    assert await emails(surface, query="\U0010ffff") == [last["email"]]
    assert await emails(surface, query="\U0010ffff" * 2) == []


async def test_customers_are_found_by_their_ids(surface, people):
    ids = [people[0]["id"], people[2]["id"], "00000000-0000-4000-8000-000000000000"]
    assert await emails(surface, id=ids) == ["grace@navy.example", "zoe@example.com"]


async def test_a_page_past_the_end_is_empty_with_the_true_total(surface, people):
    page = await surface.list_customers(page=2_147_483_647, limit=100)
    assert page["data"] == []
    assert page["meta"]["total"] == 4
    assert page["meta"]["pages"] == 1


async def test_rest_leaves_members_out_of_lists_and_graphql_has_them_everywhere(surface, people):
    for item in (await surface.list_customers())["data"]:
        if surface.name == "rest":
            assert "members" not in item
        else:
            assert [member["email"] for member in item["members"]] == [item["email"]]


async def test_a_customers_etag_is_the_same_wherever_it_is_read(gateway, tenant, people):
    headers = {"Authorization": f"Bearer {tenant.token}"}
    document = """
    { customers { data { id etag } }
      events { data { customer { id etag } } } }
    """
    answer = await gateway.client.post("/graphql", json={"query": document}, headers=headers)
    data = answer.json()["data"]
    customers = data["customers"]["data"] + [event["customer"] for event in data["events"]["data"]]
    assert len(customers) == 8
    for customer in customers:
        alone = f'{{ customer(id: "{customer["id"]}") {{ etag }} }}'
        graphql = await gateway.client.post("/graphql", json={"query": alone}, headers=headers)
        assert graphql.json()["data"]["customer"]["etag"] == customer["etag"]
        rest = await gateway.client.get(f"/api/customers/{customer['id']}", headers=headers)
        assert rest.headers["etag"] == customer["etag"]
