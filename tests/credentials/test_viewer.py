"""What a credential can learn about itself, whatever its kind."""

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from oauth.credentials import mint
from oauth.scopes import WORKSPACE_SCOPES, Scope
from storage.enums import CredentialKind
from storage.rows.rows import insert_row, table_of, update_rows
from storage.tables.accounts.users import UserRow
from storage.tables.credentials.credentials import CredentialRow
from tests.support.callers.refusals import refused
from tests.support.callers.surfaces import Refused
from tests.support.measures.spans import span
from tests.support.servers.gateways import issue, make_token


async def test_a_workspace_token_acts_for_the_workspace_and_for_no_user(surface, tenant):
    assert await surface.get_viewer() == {
        "kind": "workspace_token",
        "scopes": sorted(WORKSPACE_SCOPES),
        "expires_at": None,
        "user_id": None,
        "user": None,
        "workspace_id": tenant.id,
        "workspace": {"id": tenant.id, "name": "Acme", "slug": tenant.slug},
        "customer_id": None,
    }


async def test_a_personal_token_speaks_for_its_user(surface, tenant):
    seen = await surface.with_token(tenant.personal_token).get_viewer()
    assert seen["kind"] == "personal_token"
    assert seen["user"] == {"id": tenant.user_id, "email": tenant.user_email, "name": "Ada", "language": None}
    assert (seen["user_id"], seen["workspace_id"], seen["workspace"]) == (tenant.user_id, None, None)


async def test_any_scope_is_enough_and_the_expiry_is_shown(surface, gateway, tenant):
    with span() as issuing:
        token = await issue(
            gateway,
            CredentialKind.WORKSPACE_TOKEN,
            [Scope.METRICS_READ],
            workspace_id=UUID(tenant.id),
            expires_in=timedelta(minutes=5),
        )
    seen = await surface.with_token(token).get_viewer()
    assert seen["scopes"] == ["metrics:read"]
    assert datetime.fromisoformat(seen["expires_at"]) in issuing + timedelta(minutes=5)


async def test_a_customers_credential_names_its_customer(surface, gateway, tenant):
    customer_id = UUID("7d4f6c0e-0f9e-4f0e-9a3e-2f1f8a5f0c11")
    credential = mint(CredentialKind.CUSTOMER_SESSION)
    async with gateway.database.write() as connection:
        await insert_row(
            connection,
            CredentialRow,
            hash=credential.hash,
            kind=CredentialKind.CUSTOMER_SESSION.value,
            scopes=[Scope.CUSTOMER_PORTAL_READ.value],
            workspace_id=UUID(tenant.id),
            customer_id=customer_id,
        )
    seen = await surface.with_token(credential.text).get_viewer()
    assert seen["kind"] == "customer_session"
    assert seen["customer_id"] == str(customer_id)
    assert seen["user"] is None


@pytest.mark.parametrize(
    ("scopes", "email", "name"),
    [
        ([Scope.OPENID], False, False),
        ([Scope.OPENID, Scope.EMAIL], True, False),
        ([Scope.OPENID, Scope.PROFILE], False, True),
        ([Scope.USER_READ], True, True),
    ],
    ids=["openid", "email", "profile", "user:read"],
)
async def test_a_client_learns_of_the_user_what_it_was_granted(surface, gateway, tenant, scopes, email, name):
    own = table_of(UserRow).c.id == UUID(tenant.user_id)
    async with gateway.database.write() as connection:
        await update_rows(connection, UserRow, own, language="ja")
    token = await issue(gateway, CredentialKind.ACCESS_TOKEN, scopes, user_id=UUID(tenant.user_id))
    seen = await surface.with_token(token).get_viewer()
    assert seen["kind"] == "oauth_token"
    assert seen["user_id"] == tenant.user_id
    assert seen["user"] == {
        "id": tenant.user_id,
        "email": tenant.user_email if email else None,
        "name": "Ada" if name else None,
        "language": "ja" if name else None,
    }


async def test_a_client_for_one_workspace_acts_for_the_user_who_consented(surface, gateway, tenant):
    token = await issue(
        gateway,
        CredentialKind.ACCESS_TOKEN,
        [Scope.SHARES_READ],
        workspace_id=UUID(tenant.id),
        maker_user_id=UUID(tenant.user_id),
    )
    seen = await surface.with_token(token).get_viewer()
    assert seen["user_id"] == tenant.user_id
    assert seen["workspace"]["slug"] == tenant.slug


async def test_the_viewer_needs_a_credential(surface):
    with pytest.raises(Refused, match="unauthorized") as refused:
        await surface.with_token(None).get_viewer()
    assert refused.value.status == 401


async def test_a_scope_is_missed_only_where_one_is_needed(surface, gateway, tenant):
    reader = surface.with_token(await make_token(gateway, tenant, Scope.METRICS_READ))
    assert (await reader.get_viewer())["workspace_id"] == tenant.id
    await refused(reader.list_shares(), 403, "insufficient_scope")
