"""docs/permissions.md, tried cell by cell: each kind of credential on each operation, on both surfaces."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from gateway.cli.generated.docs_pages import permissions_page
from oauth.principals import WIDEST_SCOPES, PrincipalKind
from rest_compat.api import operation_routes
from storage.enums import CredentialKind
from tests.support.callers.examples import EXAMPLES
from tests.support.callers.surfaces import Refused
from tests.support.callers.world import make_customer_token, world_of
from tests.support.servers.gateways import issue, make_tenant, start_session

PAGE = Path(__file__).parents[2] / "docs/permissions.md"
REFUSALS = {"unauthorized", "invalid_token", "not_permitted", "insufficient_scope"}


# Nothing is allowed any more once one of them is done.
ENDS_ITS_CREDENTIAL = {"delete_workspace", "end_portal_session"}


@pytest_asyncio.fixture(scope="session")
async def world(gateway):
    """One of each resource, which may be used up, and a credential of each kind."""
    return await build(gateway)


async def build(gateway: Any) -> Any:
    tenant = await make_tenant(gateway)
    scopes, user_id = WIDEST_SCOPES[PrincipalKind.OAUTH_TOKEN], UUID(tenant.user_id)
    return await world_of(gateway, tenant), {
        None: None,
        PrincipalKind.WORKSPACE_TOKEN: tenant.token,
        PrincipalKind.PERSONAL_TOKEN: tenant.personal_token,
        PrincipalKind.OAUTH_TOKEN: await issue(gateway, CredentialKind.ACCESS_TOKEN, scopes, user_id=user_id),
        PrincipalKind.BROWSER_SESSION: await start_session(gateway, tenant.user_id),
        PrincipalKind.CUSTOMER_SESSION: await make_customer_token(gateway, tenant),
    }


def test_the_committed_table_is_the_one_that_follows_from_the_declarations():
    assert PAGE.read_text() == permissions_page()


@pytest.mark.parametrize("name", sorted(EXAMPLES))
async def test_each_kind_of_credential_may_do_what_the_table_says(name, world, gateway, caller):
    resources, credentials = await build(gateway) if name in ENDS_ITS_CREDENTIAL else world
    operation = operation_routes()[name].operation
    outcomes, expected = {}, {}
    for kind, credential in credentials.items():
        in_browser = kind is PrincipalKind.BROWSER_SESSION
        surface = caller(None).in_browser(credential) if in_browser else caller(credential)
        code, status = "done", 200
        try:
            await surface.ask(name, EXAMPLES[name](resources))
        except Refused as refused:
            code, status = refused.code, refused.status
        assert status < 500, f"{kind}: {code}"
        outcomes[kind] = code not in REFUSALS
        expected[kind] = operation.is_open_to(kind)
    assert outcomes == expected
