"""No answer has more than 16 MiB: what would is refused in a sentence, in little memory, at a price."""

from typing import Any

import pytest
import pytest_asyncio

from resolvers.operations.limits.answer_size import calls_for_bytes
from schema.errors import LARGEST_ANSWER
from tests.support.callers.surfaces import GraphQL, Refused, Rest
from tests.support.databases.large_rows import (
    LONGEST_DESCRIPTION,
    attach_fields,
    insert_members,
    insert_shares,
)
from tests.support.measures.memory import measured_memory
from tests.support.servers.gateways import bearer, make_tenant, run_gateway

LIMIT = 1_000_000
MOST_MEMORY, ATTEMPTS = 64 * 2**20, 5
HOURS = 'startDate: "2025-01-01", endDate: "2025-12-31", timezone: "UTC", interval: HOUR'
PERIOD = (
    "{ timestamp fileShareSessions fileShareDownloads costs cumulativeCosts costPerUser cashflow isComplete }"
)


def repeated(name: str, below: str, times: int = 59) -> str:
    return " ".join(f"a{number}: {name} {below}" for number in range(times))


DESCRIPTIONS = repeated("data", "{ description }")
PLANNED = f"{{ shares(limit: 100) {{ {DESCRIPTIONS} }} }}"
FIELDS = f"{{ shares(limit: 100) {{ data {{ {repeated('description', '')} }} }} }}"
LINKED = f"{{ shares(limit: 100) {{ data {{ {repeated('description', '')} workspace {{ name }} }} }} }}"
EDGES = f"{{ shares(limit: 100) {{ edges {{ node {{ {repeated('description', '')} }} }} }} }}"
PERIODS = f"{{ metrics({HOURS}) {{ {repeated('periods', PERIOD)} }} }}"
MEMBERS = f"{{ customers(limit: 100) {{ data {{ {repeated('members', '{ id name email createdAt }')} }} }} }}"
METADATA = f"{{ events(limit: 100) {{ data {{ {repeated('metadata', '')} }} }} }}"
ATTACKS = {
    "a page's data under many names": PLANNED,
    "a text under many names": FIELDS,
    "a text beside a link": LINKED,
    "a text of nodes": EDGES,
    "periods of metrics under many names": PERIODS,
    "members under many names": MEMBERS,
    "metadata under many names": METADATA,
}


@pytest_asyncio.fixture(scope="module")
async def limited(database_url, tmp_path_factory):
    async for gateway in run_gateway(database_url, tmp_path_factory.mktemp("objects"), rate_limit=LIMIT):
        yield gateway


@pytest_asyncio.fixture(scope="module")
async def full(limited):
    """A workspace whose shares, team and events are as large as they may be."""
    tenant = await make_tenant(limited)
    await insert_shares(limited, tenant, 100, "x" * LONGEST_DESCRIPTION)
    rest = Rest(limited.client, limited.app, tenant.token)
    team = await rest.create_customer(data={"email": "team@example.com", "type": "team"})
    await insert_members(limited, team, 999)
    metadata = {f"key-{number}": "v" * 500 for number in range(50)}
    event = {"name": "e", "external_customer_id": "c", "metadata": metadata}
    await rest.ingest_events(data={"events": [event] * 100})
    return tenant


@pytest_asyncio.fixture(scope="module")
async def heavy(limited):
    """A workspace with ten shares of 2 MiB each, made before custom fields had a limit."""
    tenant = await make_tenant(limited)
    share_ids = await insert_shares(limited, tenant, 10, "")
    await attach_fields(limited, tenant, share_ids, 8, 256 * 1024)
    return tenant


async def test_a_page_of_large_objects_is_refused_over_both_surfaces(limited, heavy):
    for surface in (Rest, GraphQL):
        on = surface(limited.client, limited.app, heavy.token)
        taken = []
        # Of the first run, the process keeps something; what else it does counts too.
        while not taken or (min(taken) >= MOST_MEMORY and len(taken) < ATTEMPTS):
            with measured_memory() as memory, pytest.raises(Refused) as refused:
                await on.list_shares(limit=10)
            taken.append(memory.most)
        assert (refused.value.status, refused.value.code) == (422, "invalid")
        assert refused.value.problems == {(): "answer_too_large"}
        assert "`limit`" in refused.value.detail[0]["msg"]
        assert min(taken) < MOST_MEMORY


async def test_what_is_inside_one_object_has_a_bound_on_sqlite(limited, heavy):
    on = Rest(limited.client, limited.app, heavy.token)
    customer = await on.create_customer(data={"email": "one@example.com"})
    (share,) = (await on.list_shares(limit=1))["data"]
    for _ in range(3):
        bought = {"share_id": share["id"], "customer_id": customer["id"], "file_size_bytes": 1}
        await on.create_file_share_session(data=bought)
    fields = "attachedCustomFields { customField { properties { formLabel } } }"
    inside = f"fileShareSessions(limit: %d) {{ data {{ share {{ {fields} }} }} }}"
    document = f'{{ customer(id: "{customer["id"]}") {{ {inside} }} }}'
    headers = bearer(heavy.token)
    for sessions, is_refused in ((1, False), (3, limited.database.is_sqlite)):
        taken = []
        while not taken or (min(taken) >= MOST_MEMORY and len(taken) < ATTEMPTS):
            with measured_memory() as memory:
                sent = {"query": document % sessions}
                answer = (await limited.client.post("/graphql", json=sent, headers=headers)).json()
            taken.append(memory.most)
        assert min(taken) < MOST_MEMORY
        assert ("errors" in answer) == is_refused
        if is_refused:
            detail = answer["errors"][0]["extensions"]["detail"][0]
            assert detail["type"] == "answer_too_large"
            assert detail["msg"].startswith("What is inside one object of the answer would have more than 4 ")


@pytest.mark.parametrize("attack", ATTACKS)
async def test_a_document_that_repeats_itself_is_refused(limited, full, attack):
    headers = bearer(full.token)
    # The second time, the document is known and may have a plan.
    for _ in range(2):
        with measured_memory() as memory:
            answer = await limited.client.post("/graphql", json={"query": ATTACKS[attack]}, headers=headers)
        body = answer.json()
        assert body["errors"][0]["extensions"]["detail"][0]["type"] == "answer_too_large", attack
        assert "data" not in body
        assert memory.most < MOST_MEMORY
        assert int(answer.headers["ratelimit-cost"]) >= 1 + calls_for_bytes(LARGEST_ANSWER)


ITEMS = "data {{ id description }} edges {{ cursor node {{ id name }} }}"
SHARES = f"{{{{ shares(limit: {{limit}}, page: {{page}}) {{{{ {ITEMS} }}}} }}}}"


async def test_a_page_of_megabytes_answers_what_small_pages_do(limited, full):
    headers = bearer(full.token)

    async def rest(limit: int, page: int) -> Any:
        path = f"/api/shares/?limit={limit}&page={page}"
        return (await limited.client.get(path, headers=headers)).json()["data"]

    async def graphql(limit: int, page: int) -> Any:
        query = SHARES.format(limit=limit, page=page)
        shares = (await limited.client.post("/graphql", json={"query": query}, headers=headers)).json()
        return list(zip(*shares["data"]["shares"].values(), strict=True))

    for ask in (rest, graphql):
        whole = await ask(100, 1)
        assert len(whole) == 100
        assert [item for page in range(1, 11) for item in await ask(10, page)] == whole


async def test_lists_of_thousands_of_values_are_whole_under_many_names(limited, full):
    async def metrics(fields: str) -> Any:
        body = {"query": f"{{ metrics({HOURS}) {{ {fields} }} }}"}
        return (await limited.client.post("/graphql", json=body, headers=bearer(full.token))).json()["data"][
            "metrics"
        ]

    listed = (await metrics("timestamps"))["timestamps"]
    assert len(listed) == 365 * 24
    assert list((await metrics(repeated("timestamps", "", times=30))).values()) == [listed] * 30


async def test_rows_under_many_short_names_take_little_memory(limited, full):
    query = f"{{ metrics({HOURS}) {{ {repeated('periods', '{ costs }', 59)} }} }}"
    for _ in range(2):
        with measured_memory() as memory:
            answer = await limited.client.post("/graphql", json={"query": query}, headers=bearer(full.token))
        periods = answer.json()["data"]["metrics"]
        assert [len(listed) for listed in periods.values()] == [len(periods["a0"])] * 59
        assert len(periods["a0"]) == 24 * 365
        assert memory.most < MOST_MEMORY


def left(answer: Any) -> int:
    return int(answer.headers["ratelimit-remaining"])


async def test_a_large_answer_costs_its_bytes_too(limited, heavy):
    headers = bearer(heavy.token)
    before = await limited.client.get("/api/shares/?limit=1&page=100", headers=headers)
    answer = await limited.client.get("/api/shares/?limit=5", headers=headers)
    size = len(answer.content)
    assert 10 * 2**20 < size < LARGEST_ANSWER
    cost = 1 + calls_for_bytes(size)
    assert cost >= 1 + (size - 2**20) / 2**18
    assert answer.headers["ratelimit-cost"] == str(cost)
    assert left(answer) == left(before) - cost
    head = await limited.client.head("/api/shares/?limit=5", headers=headers)
    assert head.headers["ratelimit-cost"] == str(cost)
    small = await limited.client.get("/api/shares/?limit=1&page=100", headers=headers)
    assert small.headers["ratelimit-cost"] == "1"


async def test_an_answer_says_what_its_bytes_cost(limited, heavy):
    headers = bearer(heavy.token)
    query = (
        "{ shares(limit: 4) { data { attachedCustomFields { customField { properties { formLabel } } } } } }"
    )
    for _ in range(2):
        sent = {"query": query, "extensions": {"cost": True}}
        answer = await limited.client.post("/graphql", json=sent, headers=headers)
        cost = int(answer.headers["ratelimit-cost"])
        assert len(answer.json()["data"]["shares"]["data"]) == 4
        assert answer.json()["extensions"]["cost"]["requested"] == cost
        assert 0 <= cost - 1 - calls_for_bytes(len(answer.content)) <= 1


async def test_an_answer_that_was_not_sent_again_costs_no_bytes(limited, heavy):
    headers = bearer(heavy.token)
    (share, *_) = (await limited.client.get("/api/shares/?limit=1", headers=headers)).json()["data"]
    read = await limited.client.get(f"/api/shares/{share['id']}", headers=headers)
    known = {**headers, "If-None-Match": read.headers["etag"]}
    again = await limited.client.get(f"/api/shares/{share['id']}", headers=known)
    assert int(read.headers["ratelimit-cost"]) > 1
    assert (again.status_code, again.headers["ratelimit-cost"]) == (304, "1")


@pytest_asyncio.fixture
async def narrow(database_url, tmp_path_factory):
    async for gateway in run_gateway(database_url, tmp_path_factory.mktemp("objects"), rate_limit=20):
        yield gateway


async def test_bytes_are_charged_below_zero_and_the_next_calls_wait(narrow):
    tenant = await make_tenant(narrow)
    await attach_fields(narrow, tenant, await insert_shares(narrow, tenant, 5, ""), 8, 256 * 1024)
    headers = bearer(tenant.token)
    answer = await narrow.client.get("/api/shares/?limit=5", headers=headers)
    assert answer.status_code == 200
    assert int(answer.headers["ratelimit-cost"]) > 20
    assert answer.headers["ratelimit-remaining"] == "0"
    waits = await narrow.client.get("/api/shares/?limit=1", headers=headers)
    assert waits.status_code == 429
    assert int(waits.headers["retry-after"]) > 0
