"""Links behind links behind links: three levels answer on both databases; SQLite may refuse deeper ones."""

import pytest
import pytest_asyncio

from resolvers.expansion import MOST_LEVELS
from tests.support.callers.world import world_of
from tests.support.servers.gateways import bearer, make_tenant

pytestmark = pytest.mark.both_databases

PAYMENTS = "payments { data { id %s } meta { total nextCursor } }"
SESSION = "fileShareSession { id %s }"
SESSIONS = "fileShareSessions { data { id %s } meta { total nextCursor } }"
CUSTOMER = "customer { id members { id } %s }"
SHARE = "share { id prices { id } medias { id } %s }"
WORKSPACE = "workspace { id %s }"
CHAINS = [
    [PAYMENTS, SESSION],
    [PAYMENTS, SESSION, PAYMENTS],
    [PAYMENTS, CUSTOMER, SESSIONS],
    [PAYMENTS, CUSTOMER, WORKSPACE],
    [CUSTOMER, SESSIONS, CUSTOMER, WORKSPACE],
    [CUSTOMER, SESSIONS, PAYMENTS, SHARE],
    [PAYMENTS, SESSION, CUSTOMER, SESSIONS, PAYMENTS, SESSION],
]
EXPANSIONS = [
    "file_share_sessions.share",
    "file_share_sessions.payments.customer",
    "file_share_sessions.customer.events",
]


@pytest_asyncio.fixture(scope="module")
async def tenant(gateway):
    """A tenant with one of each resource."""
    tenant = await make_tenant(gateway)
    await world_of(gateway, tenant)
    return tenant


@pytest.mark.parametrize("credential", ["token", "personal_token"])
@pytest.mark.parametrize("arguments", ["", "(page: 2)"])
async def test_graphql_answers_links_of_any_depth(gateway, tenant, credential, arguments):
    refused = []
    for chain in CHAINS:
        selected = ""
        for link in reversed(chain):
            selected = link % selected
        document = f"{{ fileShareSessions{arguments} {{ data {{ id {selected} }} meta {{ total }} }} }}"
        headers = bearer(getattr(tenant, credential))
        answer = (await gateway.client.post("/graphql", json={"query": document}, headers=headers)).json()
        if "errors" in answer:
            refused.append((chain, answer["errors"][0]["message"]))
    if gateway.database.is_sqlite:
        # Its parser takes four levels, unless most of them are lists.
        assert all(len(chain) > MOST_LEVELS for chain, _ in refused)
        assert all("ask for fewer levels" in message for _, message in refused)
    else:
        assert refused == []


@pytest.mark.parametrize("credential", ["token", "personal_token"])
@pytest.mark.parametrize("searched", [{}, {"query": "example"}])
async def test_rest_answers_or_says_to_expand_less(gateway, tenant, credential, searched):
    for expansion in EXPANSIONS:
        answer = await gateway.client.get(
            "/api/customers/",
            params={"expand": expansion, **searched},
            headers=bearer(getattr(tenant, credential)),
        )
        assert answer.status_code in (200, 422), answer.text
        if answer.status_code == 422:
            assert gateway.database.is_sqlite
            assert "ask for fewer levels" in answer.text
