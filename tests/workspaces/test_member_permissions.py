"""Every operation, tried by a member who is no owner of the workspace, by each kind of credential."""

from uuid import UUID

import pytest
import pytest_asyncio

from oauth.principals import PrincipalKind
from oauth.scopes import CLIENT_SCOPES, Scope
from rest_compat.api import operation_routes
from storage.enums import CredentialKind
from tests.support.callers.examples import EXAMPLES
from tests.support.callers.surfaces import Refused
from tests.support.callers.world import world_of
from tests.support.servers.gateways import issue, make_tenant, start_session
from tests.support.tenants.membership import make_member

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
    """A tenant with one of each resource, and the credentials of a mere member of its workspace.

    No operation that the member may do ends them.
    """
    tenant = await make_tenant(gateway)
    member = await make_member(gateway, tenant)
    own = {"user_id": UUID(member.id)}
    return await world_of(gateway, tenant), {
        PrincipalKind.PERSONAL_TOKEN: member.token,
        PrincipalKind.OAUTH_TOKEN: await issue(gateway, CredentialKind.ACCESS_TOKEN, CLIENT_SCOPES, **own),
        PrincipalKind.BROWSER_SESSION: await start_session(gateway, member.id),
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
async def test_a_member_may_do_just_what_is_not_for_owners(name, world, caller):
    resources, credentials = world
    operation = OPERATIONS[name]
    outcomes, expected = {}, {}
    for kind, credential in credentials.items():
        in_browser = kind is PrincipalKind.BROWSER_SESSION
        surface = caller(None).in_browser(credential) if in_browser else caller(credential)
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
