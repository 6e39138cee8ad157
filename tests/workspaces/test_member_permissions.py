"""Every operation, tried by a member who is no owner of the workspace, by each kind of credential."""

from uuid import UUID

import pytest
import pytest_asyncio

from gateway.web.kit.cookies import SESSION
from oauth.principals import PrincipalKind
from oauth.scopes import CLIENT_SCOPES, USER_SCOPES, Scope
from resolvers.credentials.browser_sessions import start_browser_session
from resolvers.credentials.tokens import issue_token
from rest_compat.api import operation_routes
from storage.enums import CredentialKind
from tests.support.examples import EXAMPLES
from tests.support.gateways import make_tenant
from tests.support.membership import make_member
from tests.support.surfaces import Refused, Rest
from tests.support.world import make_world

OPERATIONS = {name: route.operation for name, route in operation_routes().items()}
REFUSALS = {"unauthorized", "invalid_token", "not_permitted", "insufficient_scope"}
OWNERS_ONLY = {name for name, operation in OPERATIONS.items() if operation.owners_only}
# With these a credential decides who and what else has access to a workspace.
POWERS = {Scope.WORKSPACE_MEMBERS_WRITE, Scope.ACCESS_TOKENS_WRITE, Scope.OAUTH_CLIENTS_WRITE}
# Of them, what users do to their own.
OWN = {
    "create_personal_access_token",
    "update_personal_access_token",
    "delete_personal_access_token",
    "delete_passkey",
    "delete_totp",
    "update_passkey",
    "delete_browser_session",
    "revoke_authorized_application",
    "accept_workspace_invitation",
    "decline_workspace_invitation",
}
# What only owners see does not exist for a member.
UNSEEN = {"delete_oauth_client_document"}


@pytest_asyncio.fixture(scope="session")
async def world(gateway):
    """A tenant with one of each resource, and a mere member of its workspace."""
    tenant = await make_tenant(gateway)
    workspace = Rest(gateway.client, gateway.app, tenant.token)
    user = Rest(gateway.client, gateway.app, tenant.personal_token)
    return await make_world(workspace, user, tenant), await make_member(gateway, tenant)


async def callers(gateway, member, caller):
    """The member with a personal token, an OAuth token of theirs, and in a browser."""
    texts = []
    async with gateway.database.write() as connection:
        session = await start_browser_session(connection, UUID(member.id), "address:192.0.2.1", "A browser")
        for kind, scopes in (
            (CredentialKind.PERSONAL_TOKEN, USER_SCOPES),
            (CredentialKind.ACCESS_TOKEN, CLIENT_SCOPES),
        ):
            token, _ = await issue_token(connection, kind, scopes, user_id=UUID(member.id))
            texts.append(token.text)
    cookie = {"cookie": f"{SESSION}={session.text}", "sec_fetch_site": "same-origin"}
    return {
        PrincipalKind.PERSONAL_TOKEN: caller(texts[0]),
        PrincipalKind.OAUTH_TOKEN: caller(texts[1]),
        PrincipalKind.BROWSER_SESSION: caller(None).with_headers(**cookie),
    }


def test_what_decides_over_access_is_for_owners_unless_it_is_listed_as_the_users_own():
    """An operation that is added later has to be one or the other."""
    powerful = {name for name, operation in OPERATIONS.items() if operation.scope in POWERS}
    assert powerful | {"delete_workspace"} == OWNERS_ONLY | OWN
    assert not OWNERS_ONLY & OWN


def test_what_is_for_owners_says_so():
    for name in OWNERS_ONLY:
        assert "A user must also be an owner of the workspace." in OPERATIONS[name].description


@pytest.mark.parametrize("name", sorted(EXAMPLES))
async def test_a_member_may_do_just_what_is_not_for_owners(name, world, gateway, caller):
    resources, member = world
    operation = OPERATIONS[name]
    outcomes, expected = {}, {}
    for kind, surface in (await callers(gateway, member, caller)).items():
        refusal = None
        try:
            await surface.ask(name, EXAMPLES[name](resources))
        except Refused as refused:
            refusal = refused
        refusals = REFUSALS | {"not_found"} if name in UNSEEN else REFUSALS
        outcomes[kind] = refusal is None or refusal.code not in refusals
        expected[kind] = operation.is_open_to(kind) and not operation.owners_only
        if operation.owners_only and operation.is_open_to(kind) and name not in UNSEEN:
            assert "Only an owner of the workspace can do this" in refusal.detail
        assert refusal is None or refusal.status < 500
    assert outcomes == expected
