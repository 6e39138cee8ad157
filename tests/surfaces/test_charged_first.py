"""What a request is charged: one call before anything of it is read, the rest once it is known."""

from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from gateway.rate_limits.budget import ROOF
from gateway.rate_limits.limits import RateLimiter
from oauth.scopes import Scope
from resolvers.credentials.tokens import issue_token
from resolvers.operations.limits.answer_size import calls_for_bytes
from storage.enums import CredentialKind
from storage.rows.rows import update_row
from storage.tables.credentials.credentials import CredentialRow
from tests.support.callers.refusals import refusal, refused
from tests.support.callers.surfaces import GraphQL, Refused, Rest
from tests.support.servers.gateways import issue, make_tenant, run_gateway
from tests.support.tenants.applications import make_application

LIMIT = 20
HOURS = {"interval": "hour", "start_date": "2025-01-01", "timezone": "UTC"}


@pytest_asyncio.fixture(scope="module")
async def limited(database_url, tmp_path_factory):
    async for gateway in run_gateway(database_url, tmp_path_factory.mktemp("objects"), rate_limit=LIMIT):
        yield gateway


@pytest.fixture(params=[GraphQL, Rest], ids=["graphql", "rest"])
def on(request, limited):
    return lambda token: request.param(limited.client, limited.app, token)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


JSON = {"Content-Type": "application/json"}
# Each is refused for another reason, the first before its body is read.
WORTHLESS: dict[str, dict[str, Any]] = {
    "a body of another kind": {"content": b"{}", "headers": {"Content-Type": "text/plain"}},
    "no JSON": {"content": b"{" * 1_000, "headers": JSON},
    "no object": {"json": ["{ __typename }"]},
    "no document": {"json": {"variables": {}}},
    "variables of a wrong type": {"json": {"query": "{ __typename }", "variables": [1]}},
    "a syntax error": {"json": {"query": "{ shares("}},
    "too many bytes": {"json": {"query": "{__typename}#" + "x" * 65_536}},
    "a fragment within itself": {"json": {"query": "{ ...a } fragment a on Query { ...a }"}},
    "an unknown field": {"json": {"query": "{ nothing }"}},
    "no such operation": {"json": {"query": "query A { __typename }", "operationName": "B"}},
    "a missing scope": {"json": {"query": "mutation { createShare(data: {}) { id } }"}},
}


@pytest.mark.parametrize("name", WORTHLESS)
async def test_a_worthless_document_costs_a_call_like_any_other(limited, name):
    tenant = await make_tenant(limited)
    token = await issue(
        limited, CredentialKind.WORKSPACE_TOKEN, [Scope.SHARES_READ], workspace_id=UUID(tenant.id)
    )
    sent = dict(WORTHLESS[name])
    sent["headers"] = {**sent.get("headers", {}), **bearer(token)}
    for used in range(1, LIMIT + 1):
        answer = await limited.client.post("/graphql", **sent)
        assert answer.json()["errors"]
        assert answer.headers["ratelimit-cost"] == "1"
        assert answer.headers["ratelimit-remaining"] == str(LIMIT - used)
    assert (await limited.client.post("/graphql", **sent)).status_code == 429


@pytest.mark.parametrize(
    ("document", "cost"),
    [
        ("{" + " nothing" * 498 + " }", 1),
        ("{" + " nothing" * 499 + " }", 2),
        ("{" + " nothing" * 2_498 + " }", 5),
        ("{ nothing }" + ", \n" * 1_000, 1),
        ("{ nothing }" + "#x\n" * 1_000, 3),
        ('{ nothing(a: "' + "x y " * 1_000 + '") }', 1),
        ('{ nothing(a: """' + 'x "y" ' * 1_000 + '""") }', 1),
        ("{" + " nothing" * 5_001 + " }", 10),
        ("{" + " ...a" * 2_000 + " }", 9),
    ],
)
async def test_a_refused_document_costs_a_call_for_each_500_tokens(limited, document, cost):
    tenant = await make_tenant(limited)
    for used in (cost, 2 * cost):
        sent = {"query": document}
        answer = await limited.client.post("/graphql", json=sent, headers=bearer(tenant.token))
        assert answer.json()["errors"]
        assert answer.headers["ratelimit-cost"] == str(cost)
        assert answer.headers["ratelimit-remaining"] == str(LIMIT - used)


async def test_malformed_json_costs_a_call_on_rest_too(limited):
    tenant = await make_tenant(limited)
    for used in range(1, LIMIT + 1):
        answer = await limited.client.post("/api/shares/", content=b"{", headers=bearer(tenant.token))
        assert (answer.status_code, answer.headers["ratelimit-remaining"]) == (422, str(LIMIT - used))
    answer = await limited.client.post("/api/shares/", content=b"{", headers=bearer(tenant.token))
    assert answer.status_code == 429


@pytest.mark.parametrize("path", ["/graphql", "/api/shares/"])
async def test_who_is_over_the_limit_is_refused_before_the_body_is_read(limited, path):
    tenant = await make_tenant(limited)
    for _ in range(LIMIT):
        await limited.client.get("/api/shares/", headers=bearer(tenant.token))
    asked = 0

    async def receive() -> Any:
        nonlocal asked
        asked += 1
        return {"type": "http.request", "body": b" " * 1024, "more_body": False}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await limited.app(scope_of(path, tenant.token), receive, send)
    assert (sent[0]["status"], asked) == (429, 0)


def scope_of(path: str, token: str) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"authorization", f"Bearer {token}".encode()), (b"content-type", b"application/json")],
        "client": ("192.0.2.1", 1),
        "server": ("gateway", 80),
    }


async def test_an_idempotency_key_that_cannot_be_one_costs_a_call(limited):
    tenant = await make_tenant(limited)
    headers = bearer(tenant.token) | {"Idempotency-Key": "\u00e9".encode()}
    answer = await limited.client.post("/api/shares/", json={}, headers=headers)
    assert (answer.status_code, answer.headers["ratelimit-remaining"]) == (422, str(LIMIT - 1))


async def test_a_call_of_one_is_charged_in_one_step_and_a_longer_one_in_two(limited, monkeypatch):
    # The limiter is watched, not replaced.
    charges: list[int] = []
    charge = RateLimiter.charge

    async def watched(self: RateLimiter, subject: str, cost: int, *more: Any, **named: Any) -> Any:
        charges.append(cost)
        return await charge(self, subject, cost, *more, **named)

    monkeypatch.setattr(RateLimiter, "charge", watched)
    tenant = await make_tenant(limited)
    for document, expected in (
        ("{ shares { meta { total } } }", [1]),
        ("{ __typename }", [1]),
        ("{ shares(limit: 3) { data { workspace { name } } } }", [1, 1]),
        ("{ customers(limit: 3) { data { events(limit: 100) { data { id } } } } }", [1, 3]),
    ):
        charges.clear()
        answer = await limited.client.post("/graphql", json={"query": document}, headers=bearer(tenant.token))
        assert "errors" not in answer.json()
        assert charges == expected
        assert answer.headers["ratelimit-cost"] == str(sum(expected))
    charges.clear()
    await limited.client.get("/api/shares/", headers=bearer(tenant.token))
    assert charges == [1]


async def test_a_refused_rest_says_when_the_whole_fits(limited):
    tenant = await make_tenant(limited)
    for _ in range(LIMIT - 4):
        await limited.client.get("/api/shares/", headers=bearer(tenant.token))
    query = {"query": "{ customers(limit: 5) { data { events(limit: 100) { data { id } } } } }"}
    answer = await limited.client.post("/graphql", json=query, headers=bearer(tenant.token))
    assert (answer.status_code, answer.headers["ratelimit-cost"]) == (429, "6")
    assert answer.headers["ratelimit-remaining"] == "3"
    assert 1 <= int(answer.headers["retry-after"]) <= 60


@pytest.mark.parametrize(("end_date", "cost"), [("2025-03-24", 1), ("2025-03-25", 2), ("2026-02-19", 5)])
async def test_metrics_cost_a_call_for_each_2000_periods(limited, on, end_date, cost):
    # 83 days are 1,992 hours, 84 are 2,016 and 415 are 9,960.
    tenant = await make_tenant(limited)
    # Its bytes are charged as they are before they are compressed.
    plain = on(tenant.token).with_headers(accept_encoding="identity")
    answer = await plain.ask("get_metrics", {**HOURS, "end_date": end_date})
    cost += calls_for_bytes(int(answer.headers["content-length"]))
    assert answer.headers["ratelimit-cost"] == str(cost)
    assert answer.headers["ratelimit-remaining"] == str(max(LIMIT - cost, 0))


async def test_groups_beyond_ten_multiply_the_cost_of_metrics(limited, on):
    # 83 days are 1,992 hours; 19 groups and the rest are twice ten.
    tenant = await make_tenant(limited)
    asked = {**HOURS, "end_date": "2025-03-24", "metrics": ["costs"], "group_by": "share"}
    for top, cost in ((9, 1), (19, 2)):
        answer = await on(tenant.token).ask("get_metrics", {**asked, "top": top})
        assert answer.headers["ratelimit-cost"] == str(cost)


async def test_metrics_with_too_many_periods_cost_a_call_and_are_refused(limited, on):
    tenant = await make_tenant(limited)
    assert await refusal(on(tenant.token).get_metrics(**HOURS, end_date="2027-01-01")) == {
        ("interval",): "too_many_periods"
    }
    answer = await on(tenant.token).ask("list_shares", {})
    assert answer.headers["ratelimit-remaining"] == str(LIMIT - 2)


async def test_metrics_that_do_not_fit_are_not_computed(limited, on):
    tenant = await make_tenant(limited)
    surface = on(tenant.token)
    for _ in range(LIMIT - 3):
        await surface.list_shares()
    await refused(surface.get_metrics(**HOURS, end_date="2026-02-19"), 429, "rate_limited")


async def calls_let_through(surface: Any, operation: str) -> int:
    """How many are answered, of as many as the subject's own limit lets through."""
    for number in range(LIMIT):
        try:
            await surface.ask(operation, {})
        except Refused:
            return number
    return LIMIT


async def test_customers_of_a_workspace_have_a_roof_together(limited, on):
    tenant = await make_tenant(limited)
    allowed = 0
    for number in range(ROOF + 1):
        # Either has a budget for half of the customers.
        token = tenant.token if number % 2 else tenant.personal_token
        maker = Rest(limited.client, limited.app, token)
        data = {"email": f"{uuid4().hex}@example.com", "workspace_id": tenant.id}
        customer = await maker.create_customer(data=data)
        session = await maker.create_customer_session(data={"customer_id": customer["id"]})
        allowed += await calls_let_through(on(session["token"]), "get_portal_customer")
    assert allowed == ROOF * LIMIT


async def test_oauth_clients_of_a_user_have_a_roof_together(limited, on):
    tenant = await make_tenant(limited)
    allowed = 0
    for _ in range(ROOF + 1):
        client = await make_application(limited)
        async with limited.database.write() as connection:
            user_id = UUID(tenant.user_id)
            token, row = await issue_token(
                connection, CredentialKind.ACCESS_TOKEN, [Scope.SHARES_READ], user_id=user_id
            )
            await update_row(connection, CredentialRow, row, oauth_client_id=client.id)
        allowed += await calls_let_through(on(token.text), "list_shares")
    assert allowed == ROOF * LIMIT
