"""Bodies and objects that are larger than anything honest: refused early, by a short answer."""

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any
from uuid import uuid4

import pytest

from oauth.principals import PrincipalKind
from oauth.scopes import Scope
from resolvers.files.files import LARGEST_PLAN
from resolvers.operations.declaration import LARGEST_BATCH, LARGEST_BODY
from rest_compat.api import documented_routes
from schema.errors import MOST_PROBLEMS
from tests.support.callers.refusals import refusal, refused
from tests.support.callers.surfaces import Refused
from tests.support.measures.work import counted_calls
from tests.support.servers.gateways import make_token

LARGER = {
    "ingest_events": LARGEST_BATCH,
    "ingest_file_share_sessions": LARGEST_BATCH,
    "complete_file_upload": LARGEST_BATCH,
    "create_file": LARGEST_PLAN,
}
SHARE = {"name": "Quarterly report", "prices": [{"amount_type": "fixed", "price_amount": 1500}]}


class Unread:
    """A body that counts what is read of it."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.read = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while self.read < self.size:
            self.read += 65_536
            yield b" " * 65_536


@pytest.fixture
def send(gateway, tenant):
    async def post(path: str, token: str | None = tenant.token, method: str = "POST", **options: Any) -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return await gateway.client.request(
            method, path, headers={**headers, **options.pop("headers", {})}, **options
        )

    return post


def test_only_batches_and_plans_of_uploads_may_be_large():
    declared = {
        route.operation.name: route.operation.largest_body
        for route in documented_routes()
        if route.operation.largest_body != LARGEST_BODY
    }
    assert declared == LARGER


def bodies() -> list[Any]:
    return [
        pytest.param(route.method, route.path, route.operation.largest_body, id=route.operation.name)
        for route in documented_routes()
        if any(parameter.place == "data" for parameter in route.operation.parameters)
        and route.operation.why_public is None
        and route.operation.is_open_to(PrincipalKind.PERSONAL_TOKEN)
    ]


@pytest.mark.parametrize(("method", "path", "largest"), bodies())
async def test_a_body_over_the_limit_is_refused_and_left_unread(gateway, tenant, method, path, largest):
    for part in path.split("/"):
        if part.startswith("{"):
            path = path.replace(part, str(uuid4()))
    body = Unread(largest * 2)
    headers = {"Authorization": f"Bearer {tenant.personal_token}", "Content-Length": str(largest + 1)}
    answer = await gateway.client.request(method, path, content=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (413, "too_large")
    assert str(largest) in answer.json()["detail"]
    assert body.read == 0


async def test_a_body_that_hides_its_length_is_left_where_the_limit_is(send):
    body = Unread(LARGEST_BATCH)
    answer = await send("/api/shares/", content=body)
    assert (answer.status_code, answer.json()["error"]) == (413, "too_large")
    assert body.read <= LARGEST_BODY + 65_536


@pytest.mark.parametrize("length", ["9" * 5_000, "٣" * 10], ids=["long", "arabic"])
async def test_an_absurd_length_is_no_failure_of_ours(send, length):
    answer = await send("/api/shares/", content=b"{}", headers={"Content-Length": length.encode()})
    assert answer.status_code in {413, 422}


@pytest.mark.parametrize("path", ["/api/oauth2/token", "/api/oauth2/register", "/sign-in", "/sign-up"])
async def test_forms_and_registrations_of_strangers_are_left_unread(gateway, path):
    form = {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": str(LARGEST_BODY + 1)}
    body = Unread(LARGEST_BATCH)
    answer = await gateway.client.post(path, content=body, headers=form)
    assert 400 <= answer.status_code < 500
    assert body.read == 0


async def test_a_stranger_cannot_have_a_large_graphql_request_read(gateway):
    body = Unread(LARGEST_BATCH)
    headers = {"Content-Type": "application/json", "Content-Length": str(LARGEST_BODY + 1)}
    answer = await gateway.client.post("/graphql", content=body, headers=headers)
    assert answer.status_code == 413
    assert answer.json()["errors"][0]["extensions"]["code"] == "too_large"
    assert body.read == 0


async def test_a_token_that_writes_no_batches_cannot_have_a_large_graphql_request_read(gateway, tenant, send):
    token = await make_token(gateway, tenant, Scope.SHARES_WRITE, Scope.EVENTS_READ)
    body = Unread(LARGEST_BATCH)
    headers = {"Content-Type": "application/json", "Content-Length": str(LARGEST_BODY + 1)}
    assert (await send("/graphql", token, content=body, headers=headers)).status_code == 413
    assert body.read == 0


async def test_large_variables_are_for_batches_only(send):
    padding = {"padding": "x" * LARGEST_BODY}
    share = "mutation($d: ShareCreate!) { createShare(data: $d) { id } }"
    refused = await send("/graphql", json={"query": share, "variables": {"d": {}} | padding})
    assert refused.status_code == 413
    assert refused.json()["errors"][0]["extensions"]["code"] == "too_large"
    ingest = "mutation($d: EventIngest!) { ingestEvents(data: $d) { inserted } }"
    data = {"events": [{"name": "opened"}]}
    taken = await send("/graphql", json={"query": ingest, "variables": {"d": data} | padding})
    assert taken.json()["data"] == {"ingestEvents": {"inserted": 1}}


async def test_a_large_batch_is_taken_on_both_surfaces(surface):
    metadata = {f"key {number}": "x" * 400 for number in range(40)}
    events = [{"name": "opened", "metadata": metadata} for _ in range(30)]
    assert len(json.dumps(events)) > LARGEST_BODY
    assert (await surface.ingest_events(data={"events": events}))["inserted"] == 30


def crowded(count: int) -> dict[str, int]:
    return {f"u{number}": 1 for number in range(count)}


@pytest.mark.parametrize(
    ("operation", "data", "loc"),
    [
        ("create_share", crowded(3_000), ("data",)),
        ("create_share", SHARE | {"prices": [crowded(3_000)]}, ("data", "prices", 0)),
        ("create_customer", {"email": "a@example.com", "billing_address": crowded(3_000)}, None),
        ("create_customer", {"email": "a@example.com", "metadata": crowded(3_000)}, None),
        ("ingest_events", {"events": [{"name": "a"}, {"name": "b"} | crowded(3_000)]}, ("data", "events", 1)),
        ("ingest_events", {"events": [{"name": "a", "cost": crowded(3_000)}]}, ("data", "events", 0, "cost")),
        (
            "ingest_file_share_sessions",
            {"sessions": [{"payments": [{"refunds": [crowded(3_000)]}]}]},
            ("data", "sessions", 0, "payments", 0, "refunds", 0),
        ),
    ],
    ids=["object", "in a list", "nested", "metadata", "event", "cost", "refund"],
)
async def test_an_object_with_thousands_of_keys_is_one_problem(surface, operation, data, loc):
    failure = await refused(surface.ask(operation, {"data": data}), 422, "invalid")
    place = loc[1:] if loc else ("metadata" if "metadata" in data else "billing_address",)
    assert failure.problems[place] in {"too_many_fields", "too_long"}
    assert not [place for place in failure.problems if "u1" in place]


async def test_a_stranger_with_thousands_of_keys_gets_one_problem(gateway):
    answer = await gateway.client.post("/api/customer-portal/customer-session/request", json=crowded(20_000))
    assert (answer.status_code, len(answer.json()["detail"])) == (422, 1)
    assert answer.json()["detail"][0]["loc"] == ["body"]


async def test_a_few_unknown_keys_are_still_named(surface):
    assert set(await refusal(surface.create_share(data=SHARE | crowded(5)))) == {
        (f"u{number}",) for number in range(5)
    }


async def test_an_answer_lists_100_problems_and_counts_the_others(surface):
    events = [{"name": "a", "metadata": {"bad": None}} for _ in range(1_000)]
    with pytest.raises(Refused) as refused:
        await surface.ingest_events(data={"events": events})
    assert len(refused.value.detail) == MOST_PROBLEMS
    assert refused.value.more == 1_000 - MOST_PROBLEMS


async def test_an_answer_lists_100_problems_of_all_its_mutations_together(send):
    metadata = {f"k{number}": None for number in range(50)}
    data = {"events": [{"name": "a", "metadata": metadata}] * 4}
    fields = " ".join(f"a{number}: ingestEvents(data: $d) {{ inserted }}" for number in range(30))
    query = f"mutation($d: EventIngest!) {{ {fields} }}"
    answer = await send("/graphql", json={"query": query, "variables": {"d": data}})
    refusals = [error["extensions"] for error in answer.json()["errors"]]
    assert {error["path"][0] for error in answer.json()["errors"]} == {f"a{number}" for number in range(30)}
    assert sum(len(refusal["detail"]) for refusal in refusals) == MOST_PROBLEMS
    assert sum(len(refusal["detail"]) + refusal.get("more", 0) for refusal in refusals) == 30 * 200
    assert len(answer.content) < 64 * 1024


async def test_events_full_of_bad_fields_cost_no_more_than_good_ones(surface):
    def batch(event: dict[str, Any]) -> dict[str, Any]:
        return {"events": [event for _ in range(1_000)]}

    async def work(data: dict[str, Any]) -> int:
        with counted_calls() as calls, suppress(Refused):
            await surface.ingest_events(data=data)
        return calls.number

    many = {f"k{number}": None for number in range(50)}
    good = await work(batch({"name": "a", "metadata": dict.fromkeys(many, 1)}))
    bad = await work(batch({"name": "a", "metadata": many} | crowded(15)))
    assert bad < good * 1.5


@pytest.mark.parametrize("name", ["x" * 100_000, "\U0001f600" * 30_000], ids=["ascii", "emoji"])
async def test_a_long_name_is_not_sent_back(send, name):
    answer = await send("/api/shares/", json=SHARE | {name: 1})
    (entry,) = answer.json()["detail"]
    assert len(entry["loc"][1]) == 100
    assert len(answer.content) < 1_000


async def test_thousands_of_query_parameters_are_one_problem(send):
    for path in ("/api/shares/", f"/api/shares/{uuid4()}"):
        query = "&".join(f"u{number}" for number in range(5_000))
        answer = await send(f"{path}?{query}", method="GET")
        (entry,) = answer.json()["detail"]
        assert (entry["loc"], entry["type"]) == (["query"], "too_many_fields")


async def test_metadata_filters_are_counted_as_such(send):
    query = "&".join(f"metadata[k{number}]=v" for number in range(50))
    assert (await send(f"/api/shares/?{query}", method="GET")).status_code == 200
    many = "&".join(f"metadata[k{number}]=v" for number in range(2_000))
    (entry,) = (await send(f"/api/shares/?{many}", method="GET")).json()["detail"]
    assert (entry["loc"], entry["type"]) == (["query", "metadata"], "too_long")
