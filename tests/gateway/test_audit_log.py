"""The audit log: refused access and sensitive operations are lines of their own, without a caller's text."""

from uuid import uuid4

import pytest

from oauth.scopes import Scope
from resolvers.graph.root import exposed, make_schema
from tests.metrics.test_reading import JANUARY
from tests.support.browsers.browsing import PASSWORD
from tests.support.callers.surfaces import Refused
from tests.support.measures.log_lines import own_log_lines
from tests.support.servers.gateways import bearer, make_token
from tests.support.tenants.membership import make_member
from tests.support.tenants.uploads import upload_file

SECRET_TEXT = "a text of the caller"


@pytest.fixture
def owner(caller, tenant):
    return caller(tenant.personal_token)


def without_credential(line):
    assert line.pop("credential")
    return line


async def test_a_change_of_a_role_says_who_gave_which_to_whom(gateway, tenant, owner):
    colleague = await make_member(gateway, tenant)
    with own_log_lines() as lines:
        await owner.update_workspace_member(id=colleague.member_id, data={"role": "owner"})
    assert [without_credential(line) for line in lines] == [
        {
            "event": "audit",
            "log_level": "info",
            "operation": "update_workspace_member",
            "outcome": "ok",
            "kind": "personal_token",
            "user": tenant.user_id,
            "about": {"id": colleague.member_id, "role": "owner"},
        }
    ]


async def test_a_new_token_is_named_with_its_scopes_and_without_its_name_or_secret(tenant, owner):
    data = {"workspace_id": tenant.id, "comment": SECRET_TEXT, "scopes": ["shares:read", "customers:read"]}
    with own_log_lines() as lines:
        made = await owner.create_workspace_access_token(data=data)
    (line,) = lines
    assert line["about"] == {
        "workspace_id": tenant.id,
        "scopes": ["customers:read", "shares:read"],
        "made": made["workspace_access_token"]["id"],
    }
    assert SECRET_TEXT not in str(line)
    assert made["token"] not in str(line)


async def test_deletions_of_customers_downloads_and_sessions_of_the_portal_are_lines(
    gateway, tenant, surface
):
    customer = await surface.create_customer(
        data={"name": SECRET_TEXT, "email": f"{uuid4().hex}@example.com"}
    )
    file = await upload_file(surface)
    with own_log_lines() as lines:
        await surface.list_customers()
        await surface.get_file_download(id=file["id"])
        session = await surface.create_customer_session(data={"customer_id": customer["id"]})
        await surface.delete_customer(id=customer["id"], anonymize=True)
    assert [(line["operation"], line["workspace"], line["about"]) for line in lines] == [
        ("get_file_download", tenant.id, {"id": file["id"]}),
        ("create_customer_session", tenant.id, {"customer_id": customer["id"], "made": session["id"]}),
        ("delete_customer", tenant.id, {"id": customer["id"], "anonymize": True}),
    ]


@pytest.mark.parametrize(
    ("credential", "reason"),
    [("none", "unauthorized"), ("unknown", "invalid_token"), ("narrow", "insufficient_scope")],
)
async def test_each_refused_access_is_one_line_that_says_why(gateway, tenant, caller, credential, reason):
    narrow = await make_token(gateway, tenant, Scope.SHARES_READ)
    token = {"none": None, "unknown": f"dg_wat_{SECRET_TEXT.replace(' ', '')}", "narrow": narrow}[credential]
    with own_log_lines() as lines, pytest.raises(Refused):
        await caller(token).list_customers()
    (line,) = lines
    who = {} if credential != "narrow" else {"kind": "workspace_token", "workspace": tenant.id}
    assert bool(line.pop("credential", None)) is bool(who)
    assert line == {"event": "access refused", "reason": reason, "log_level": "info"} | who


async def test_what_a_member_may_not_do_is_refused_in_two_lines(gateway, tenant, caller):
    colleague = await make_member(gateway, tenant)
    with own_log_lines() as lines, pytest.raises(Refused):
        await caller(colleague.token).invite_workspace_member(
            data={"workspace_id": tenant.id, "email": f"{SECRET_TEXT.replace(' ', '.')}@example.com"}
        )
    audit, refused = lines
    assert (audit["outcome"], audit["reason"], refused["reason"]) == (
        "refused",
        "not_permitted",
        "not_permitted",
    )
    assert "about" not in audit
    assert audit["user"] == refused["user"] == colleague.user_id


async def test_a_document_that_is_refused_many_times_is_one_line(gateway, tenant, graphql):
    narrow = await make_token(gateway, tenant, Scope.SHARES_READ)
    fields = " ".join(f"a{number}: customers {{ meta {{ total }} }}" for number in range(20))
    with own_log_lines() as lines:
        assert len((await graphql(f"{{ {fields} }}", narrow))["errors"]) == 20
    assert [line["reason"] for line in lines] == ["insufficient_scope"]


async def test_reads_write_no_line(surface, tenant):
    with own_log_lines() as lines:
        await surface.list_shares()
        await surface.list_customers()
        await surface.list_workspace_members()
    assert lines == []


async def test_an_export_is_a_line(gateway, tenant):
    with own_log_lines() as lines:
        answer = await gateway.client.get("/api/metrics/export", params=JANUARY, headers=bearer(tenant.token))
        assert answer.status_code == 200
    assert [(line["event"], line["workspace"]) for line in lines] == [("exported", tenant.id)]


async def test_a_new_password_is_a_line_that_has_neither(signed_in_browser, tenant):
    await signed_in_browser.open("/account")
    with own_log_lines() as lines:
        new = "another long password of 2026"
        await signed_in_browser.press("Change password", current_password=PASSWORD, new_password=new)
    (line,) = lines
    assert (line["operation"], line["outcome"], line["user"]) == ("change_password", "ok", tenant.user_id)
    assert PASSWORD not in str(line)
    assert new not in str(line)


def test_every_operation_that_decides_who_gets_in_is_audited():
    every = exposed(make_schema()._schema)
    assert {name for name, place in every.items() if place.operation.is_audited} == {
        *("copy_workspace", "create_workspace", "update_workspace", "delete_workspace"),
        *("invite_workspace_member", "update_workspace_member", "remove_workspace_member"),
        *("accept_workspace_invitation", "decline_workspace_invitation"),
        *("create_workspace_access_token", "update_workspace_access_token", "delete_workspace_access_token"),
        *("create_personal_access_token", "update_personal_access_token", "delete_personal_access_token"),
        *("create_oauth_client", "update_oauth_client", "delete_oauth_client", "rotate_oauth_client_secret"),
        *("create_webhook_endpoint", "update_webhook_endpoint", "delete_webhook_endpoint"),
        *("rotate_webhook_endpoint_secret", "test_webhook_endpoint", "redeliver_webhook_endpoint"),
        "redeliver_webhook_delivery",
        *("register_oauth_client_documents", "delete_oauth_client_document"),
        *("revoke_authorized_application", "delete_browser_session", "update_passkey", "delete_passkey"),
        *("delete_totp", "create_customer_session"),
        *("delete_customer", "get_file_download", "download_portal_file", "refund_payment"),
    }
    sensitive = {name for name, place in every.items() if place.operation.fresh or place.operation.seals}
    assert sensitive <= {name for name, place in every.items() if place.operation.is_audited}
