"""Rate limits, seen from both surfaces: one budget for a subject, whatever it uses."""

import pytest
import pytest_asyncio

from storage.rows.rows import table_of, update_rows
from storage.tables.workspaces.workspaces import WorkspaceRow
from tests.support.callers.refusals import refused
from tests.support.callers.surfaces import GraphQL, Rest
from tests.support.servers.gateways import make_tenant, run_gateway

LIMIT = 10


@pytest_asyncio.fixture(scope="module")
async def limited(database_url, tmp_path_factory):
    async for gateway in run_gateway(database_url, tmp_path_factory.mktemp("objects"), rate_limit=LIMIT):
        yield gateway


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def graphql(gateway, token, query):
    return await gateway.client.post("/graphql", json={"query": query}, headers=bearer(token))


async def test_rest_and_graphql_draw_from_one_budget(limited):
    tenant = await make_tenant(limited)
    for used in range(1, LIMIT + 1):
        if used % 2:
            answer = await limited.client.get("/api/shares/", headers=bearer(tenant.token))
        else:
            answer = await graphql(limited, tenant.token, "{ shares { meta { total } } }")
        assert answer.status_code == 200
        assert answer.headers["ratelimit-remaining"] == str(LIMIT - used)
    for answer in (
        await limited.client.get("/api/shares/", headers=bearer(tenant.token)),
        await graphql(limited, tenant.token, "{ shares { meta { total } } }"),
    ):
        assert answer.status_code == 429
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert answer.headers["ratelimit-limit"] == str(LIMIT)
    assert answer.json()["errors"][0]["extensions"]["code"] == "rate_limited"


async def test_what_could_never_fit_is_too_complex_and_costs_a_call(limited):
    tenant = await make_tenant(limited)
    query = "{ customers(limit: 50) { data { events(limit: 100) { data { id } } } } }"
    answer = await graphql(limited, tenant.token, query)
    extensions = answer.json()["errors"][0]["extensions"]
    assert (extensions["code"], extensions["status"]) == ("too_complex", 422)
    assert "51" in extensions["detail"]
    assert str(LIMIT) in extensions["detail"]
    answer = await graphql(limited, tenant.token, "{ shares { meta { total } } }")
    assert answer.headers["ratelimit-remaining"] == str(LIMIT - 2)


async def test_another_token_of_the_workspace_is_no_new_budget(limited):
    tenant = await make_tenant(limited)
    await limited.client.get("/api/shares/", headers=bearer(tenant.token))
    from_user = await limited.client.get("/api/shares/", headers=bearer(tenant.personal_token))
    assert from_user.headers["ratelimit-remaining"] == str(LIMIT - 1)
    again = await limited.client.get("/api/shares/", headers=bearer(tenant.token))
    assert again.headers["ratelimit-remaining"] == str(LIMIT - 2)


async def test_an_operator_can_give_a_workspace_more(limited):
    tenant = await make_tenant(limited)
    workspaces = table_of(WorkspaceRow)
    async with limited.database.write() as connection:
        await update_rows(
            connection, WorkspaceRow, workspaces.c.slug == tenant.slug, requests_per_minute=1000
        )
    answer = await limited.client.get("/api/shares/", headers=bearer(tenant.token))
    assert answer.headers["ratelimit-limit"] == "1000"


@pytest.mark.parametrize("credential", ["", "Bearer dg_wat_unknown"])
async def test_without_a_valid_credential_the_address_is_charged(limited, credential):
    statuses = set()
    for _ in range(LIMIT + 2):
        sent = {"Authorization": credential} if credential else {}
        answer = await limited.client.get("/api/shares/", headers=sent)
        statuses.add(answer.status_code)
    assert 429 in statuses


@pytest.mark.parametrize("make", [Rest, GraphQL])
async def test_invitations_count_against_the_lower_budget_because_they_are_mailed(
    database_url, tmp_path, make
):
    async for gateway in run_gateway(database_url, tmp_path, rate_limit_restricted=3):
        tenant = await make_tenant(gateway)
        surface = make(gateway.client, gateway.app, tenant.personal_token)
        invited = [{"workspace_id": tenant.id, "email": f"{number}@example.com"} for number in range(4)]
        for data in invited[:3]:
            await surface.invite_workspace_member(data=data)
        await refused(surface.invite_workspace_member(data=invited[3]), 429, "rate_limited")
        emails = [member["email"] for member in (await surface.list_workspace_members())["data"]]
        assert invited[3]["email"] not in emails
