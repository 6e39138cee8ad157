"""docs/permissions.md, tried cell by cell: each kind of credential on each operation, on both surfaces."""

from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from gateway.cli.generated.docs_pages import permissions_page
from gateway.web.kit.cookies import SESSION
from oauth.principals import WIDEST_SCOPES, PrincipalKind
from resolvers.credentials.browser_sessions import start_browser_session
from resolvers.credentials.tokens import issue_token
from rest_compat.api import operation_routes
from storage.enums import CredentialKind
from tests.support.examples import EXAMPLES
from tests.support.gateways import make_tenant
from tests.support.surfaces import Refused, Rest, Surface
from tests.support.world import make_world

PAGE = Path(__file__).parents[2] / "docs/permissions.md"
REFUSALS = {"unauthorized", "invalid_token", "not_permitted", "insufficient_scope"}


@pytest_asyncio.fixture(scope="session")
async def world(gateway):
    """A tenant with one of each resource; whatever is allowed may use them up."""
    return await build(gateway)


async def build(gateway: Any) -> Any:
    tenant = await make_tenant(gateway)
    workspace = Rest(gateway.client, gateway.app, tenant.token)
    user = Rest(gateway.client, gateway.app, tenant.personal_token)
    return tenant, await make_world(workspace, user, tenant)


async def make_customer_token(gateway: Any, tenant: Any) -> str:
    """A session of a new team, so that nothing tried before has ended it."""
    workspace = Rest(gateway.client, gateway.app, tenant.token)
    team = await workspace.create_customer(data={"email": f"{uuid4().hex}@example.com", "type": "team"})
    return str((await workspace.create_customer_session(data={"customer_id": team["id"]}))["token"])


async def make_oauth_token(gateway: Any, tenant: Any) -> str:
    async with gateway.database.write() as connection:
        token, _ = await issue_token(
            connection,
            CredentialKind.ACCESS_TOKEN,
            WIDEST_SCOPES[PrincipalKind.OAUTH_TOKEN],
            user_id=UUID(tenant.user_id),
        )
    return token.text


async def callers(gateway: Any, tenant: Any, caller: Any) -> dict[PrincipalKind | None, Surface]:
    """Someone with each kind of credential; the browser's is a cookie, sent from a page of ours."""
    async with gateway.database.write() as connection:
        session = await start_browser_session(
            connection, UUID(tenant.user_id), "address:192.0.2.1", "A browser"
        )
    cookie = {"cookie": f"{SESSION}={session.text}", "sec_fetch_site": "same-origin"}
    return {
        None: caller(None),
        PrincipalKind.WORKSPACE_TOKEN: caller(tenant.token),
        PrincipalKind.PERSONAL_TOKEN: caller(tenant.personal_token),
        PrincipalKind.OAUTH_TOKEN: caller(await make_oauth_token(gateway, tenant)),
        PrincipalKind.BROWSER_SESSION: caller(None).with_headers(**cookie),
        PrincipalKind.CUSTOMER_SESSION: caller(await make_customer_token(gateway, tenant)),
    }


def test_the_committed_table_is_the_one_that_follows_from_the_declarations():
    assert PAGE.read_text() == permissions_page()


@pytest.mark.parametrize("name", sorted(EXAMPLES))
async def test_each_kind_of_credential_may_do_what_the_table_says(name, world, gateway, caller):
    # Nothing is allowed any more where the workspace is gone.
    tenant, resources = await build(gateway) if name == "delete_workspace" else world
    operation = operation_routes()[name].operation
    outcomes, expected = {}, {}
    for kind, surface in (await callers(gateway, tenant, caller)).items():
        code, status = "done", 200
        try:
            await surface.ask(name, EXAMPLES[name](resources))
        except Refused as refused:
            code, status = refused.code, refused.status
        assert status < 500, f"{kind}: {code}"
        outcomes[kind] = code not in REFUSALS
        expected[kind] = operation.is_open_to(kind)
    assert outcomes == expected
