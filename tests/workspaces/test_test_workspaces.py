"""How a test workspace is kept apart: whom it mails, and where its numbers count."""

from uuid import uuid4

import pytest

from tests.support.callers.refusals import refused
from tests.support.mails.mailed import mails_to

PAYMENT = {"amount": 199_900, "currency": "usd"}
JANUARY = {"start_date": "2026-01-01", "end_date": "2026-01-31", "interval": "month"}
AT = "2026-01-15T09:00:00Z"


@pytest.fixture
async def copy(owner, tenant):
    return await owner.copy_workspace(id=tenant.id, data={})


async def sell(owner, workspace_id, email, **moment):
    """A customer with this address pays."""
    home = {"workspace_id": workspace_id}
    customer = await owner.create_customer(data={"email": email, **home})
    data = {"customer_id": customer["id"], "price_amount": 199_900, "file_size_bytes": 7, **home}
    if moment:
        data["created_at"] = moment["at"]
    session = await owner.create_file_share_session(data=data)
    return await owner.record_payment(id=session["id"], data={**PAYMENT, **moment})


async def test_it_mails_no_stranger(owner, copy, gateway):
    stranger = f"stranger-{uuid4().hex}@example.com"
    assert await sell(owner, copy["id"], stranger)
    await owner.with_token(None).request_portal_code(data={"email": stranger, "slug": copy["slug"]})
    invited = await owner.invite_workspace_member(data={"email": stranger, "workspace_id": copy["id"]})
    assert invited["status"].lower() == "invited"
    assert await mails_to(gateway, stranger) == []


async def test_it_mails_its_members(owner, copy, gateway, tenant):
    assert await sell(owner, copy["id"], tenant.user_email)
    await owner.with_token(None).request_portal_code(data={"email": tenant.user_email, "slug": copy["slug"]})
    subjects = [mail.subject for mail in await mails_to(gateway, tenant.user_email)]
    # The news of the payment, its confirmation and a code.
    assert len(subjects) == 3


async def test_metrics_of_several_workspaces_leave_it_out_unless_asked(owner, copy, tenant):
    await sell(owner, tenant.id, "real@example.com", at=AT)
    for email in ("one@example.com", "two@example.com"):
        await sell(owner, copy["id"], email, at=AT)

    async def sessions(**filters):
        asked = {"metrics": ["file_share_sessions"], **JANUARY, **filters}
        totals = (await owner.get_metrics(**asked))["totals"]
        return totals["file_share_sessions"] if isinstance(totals, dict) else totals[0]["value"]

    assert await sessions() == 1
    assert await sessions(include_test=True) == 3
    assert await sessions(workspace_id=[copy["id"]]) == 2
    assert await sessions(workspace_id=[copy["id"], tenant.id]) == 3
    # Its calls open the rows that count.
    answer = await owner.get_metrics(metrics=["file_share_sessions"], **JANUARY)
    (row, *_) = answer["rows"]
    assert f"workspace_id={tenant.id}" in row["query"]
    assert copy["id"] not in row["query"]


async def test_metrics_of_a_credential_with_test_workspaces_only_are_theirs(owner, copy, tenant):
    await sell(owner, copy["id"], "one@example.com", at=AT)
    await owner.copy_workspace(id=copy["id"], data={})
    await owner.delete_workspace(id=tenant.id)
    answer = await owner.get_metrics(metrics=["file_share_sessions"], **JANUARY)
    assert answer["totals"]["file_share_sessions"] == 1


async def test_its_tokens_begin_with_dg_test_and_work_as_others(owner, copy, tenant):
    data = {"comment": "CI", "scopes": ["shares:read", "workspaces:read"]}
    made = await owner.create_workspace_access_token(data={**data, "workspace_id": copy["id"]})
    assert made["token"].startswith("dg_test_")
    assert (await owner.with_token(made["token"]).get_workspace(id=copy["id"]))["is_test"] is True
    real = await owner.create_workspace_access_token(data={**data, "workspace_id": tenant.id})
    assert real["token"].startswith("dg_wat_")
    await owner.delete_workspace_access_token(id=made["workspace_access_token"]["id"])
    await refused(owner.with_token(made["token"]).list_shares(), 401, "invalid_token")
