"""Long after the sign-in, a browser session grants no access until the password is entered again."""

from datetime import timedelta
from uuid import uuid4

import pytest
import pytest_asyncio
from sqlalchemy import update

from oauth.principals import PrincipalKind
from oauth.scopes import Scope
from rest_compat.api import operation_routes
from storage.clock import now
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow
from tests.support.callers.refusals import UNKNOWN_ID, refused
from tests.support.callers.world import WEBHOOK
from tests.support.servers.gateways import start_session

_credentials = table_of(CredentialRow)
OPERATIONS = {name: route.operation for name, route in operation_routes().items()}
FRESH = sorted(name for name, operation in OPERATIONS.items() if operation.fresh)
# What gives access to a workspace or an account; a customer's session opens only that customer's portal.
# A webhook endpoint is told what its creator can read.
GIVES_ACCESS = {
    *(Scope.ACCESS_TOKENS_WRITE, Scope.OAUTH_CLIENTS_WRITE, Scope.WORKSPACE_MEMBERS_WRITE),
    Scope.WEBHOOKS_WRITE,
}
# These end access, name or bound what gives it, or take what was given to the session's own user.
GIVES_NONE = {
    "accept_workspace_invitation",
    "decline_workspace_invitation",
    "delete_browser_session",
    "delete_oauth_client",
    "delete_oauth_client_document",
    "delete_webhook_endpoint",
    "delete_personal_access_token",
    "delete_workspace_access_token",
    "redeliver_webhook_delivery",
    "redeliver_webhook_endpoint",
    "register_oauth_client_documents",
    "remove_workspace_member",
    "revoke_authorized_application",
    "test_webhook_endpoint",
    "update_passkey",
}
# What cannot be undone asks too.
ENDS_EVERYTHING = {"delete_workspace"}
SEALED_FOR_CUSTOMERS = {"create_customer_session", "download_portal_file"}
CALLS = {
    "create_personal_access_token": {"data": {"comment": "a", "scopes": ["shares:read"]}},
    "create_workspace_access_token": {"data": {"comment": "a", "scopes": ["shares:read"]}},
    "create_oauth_client": {
        "data": {
            "name": "An application",
            "redirect_uris": ["https://app.example.com/"],
            "scopes": ["openid"],
        }
    },
    "create_webhook_endpoint": {"data": WEBHOOK},
    "rotate_webhook_endpoint_secret": {"id": UNKNOWN_ID},
    "update_webhook_endpoint": {"id": UNKNOWN_ID, "data": {}},
    "invite_workspace_member": {"data": {"email": f"{uuid4().hex}@example.com"}},
    "delete_passkey": {"id": UNKNOWN_ID},
    "delete_totp": {},
    "delete_workspace": {"id": UNKNOWN_ID},
    "rotate_oauth_client_secret": {"id": UNKNOWN_ID},
    "update_oauth_client": {"id": UNKNOWN_ID, "data": {}},
    "update_personal_access_token": {"id": UNKNOWN_ID, "data": {}},
    "update_workspace_access_token": {"id": UNKNOWN_ID, "data": {}},
    "update_workspace_member": {"id": UNKNOWN_ID, "data": {}},
}


@pytest_asyncio.fixture
async def session(gateway, tenant):
    """The text of a browser session that began 61 minutes ago."""
    credential = await start_session(gateway, tenant.user_id)
    await let_begin(gateway, credential, timedelta(minutes=61))
    return credential


async def let_begin(gateway, credential, ago):
    async with gateway.database.write() as connection:
        own = _credentials.c.hash == credential.hash
        await connection.execute(update(_credentials).where(own).values(authenticated_at=now() - ago))


def test_every_operation_that_hands_out_access_asks_for_a_recent_sign_in():
    for name, operation in OPERATIONS.items():
        gives_access = operation.scope in GIVES_ACCESS and name not in GIVES_NONE
        seals = operation.seals and name not in SEALED_FOR_CUSTOMERS
        assert operation.fresh == (gives_access or seals or name in ENDS_EVERYTHING), name
        if operation.fresh:
            assert PrincipalKind.BROWSER_SESSION in operation.kinds


@pytest.mark.parametrize("name", FRESH)
async def test_a_session_left_open_hands_out_no_access(gateway, caller, session, name):
    browser = caller(None).in_browser(session)
    failure = await refused(browser.ask(name, CALLS[name]), 403, "reauthentication_required")
    assert "/confirm-password" in failure.detail
    await let_begin(gateway, session, timedelta(minutes=59))
    if "id" in CALLS[name] or not CALLS[name]:
        await refused(browser.ask(name, CALLS[name]), 404, "not_found")
    else:
        await browser.ask(name, CALLS[name])


async def test_tokens_are_not_asked_when_they_signed_in(caller, tenant):
    user = caller(tenant.personal_token)
    assert (await user.create_personal_access_token(**CALLS["create_personal_access_token"]))["token"]
    workspace = caller(tenant.token)
    assert (await workspace.create_oauth_client(**CALLS["create_oauth_client"]))["client_secret"]


async def test_a_session_left_open_still_reads(caller, session):
    (token,) = (await caller(None).in_browser(session).list_personal_access_tokens())["data"]
    assert token["comment"] == ""


async def test_a_session_left_open_registers_no_client(gateway, session):
    headers = {"Cookie": f"duograph_session={session.text}", "Sec-Fetch-Site": "same-origin"}
    body = {"redirect_uris": ["https://app.example.com/"]}
    answer = await gateway.client.post("/api/oauth2/register", json=body, headers=headers)
    assert answer.status_code == 403
    await let_begin(gateway, session, timedelta(minutes=59))
    answer = await gateway.client.post("/api/oauth2/register", json=body, headers=headers)
    assert answer.status_code == 201
