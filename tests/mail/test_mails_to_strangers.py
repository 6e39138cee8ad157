"""The service is no relay: who may mail people who asked for nothing, how many mails, and which go first."""

from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from storage.rows.rows import table_of, update_rows
from storage.tables.accounts.users import UserRow
from tests.support.callers.refusals import refused
from tests.support.callers.surfaces import GraphQL, Refused, Rest
from tests.support.mails.mailed import mails_to
from tests.support.mails.portal_codes import request
from tests.support.servers.gateways import make_tenant, run_gateway

PAYMENT = {"amount": 199_900, "currency": "usd"}
NOWHERE = "smtp://127.0.0.1:9"
_users = table_of(UserRow)


@pytest.fixture(params=[GraphQL, Rest], ids=["graphql", "rest"])
def caller_of(request):
    """Make a caller of a gateway, over each surface in turn."""
    return lambda gateway, token: request.param(gateway.client, gateway.app, token)


@pytest_asyncio.fixture
async def in_earnest(own_database_url, tmp_path):
    """A gateway with a mail server that does not answer, so that its mails stay to be read."""
    async for running in run_gateway(own_database_url, tmp_path, smtp_url=NOWHERE):
        yield running


async def unconfirm(gateway, tenant):
    async with gateway.database.write() as connection:
        mine = _users.c.id == UUID(tenant.user_id)
        await update_rows(connection, UserRow, mine, email_verified_at=None)


async def try_everything(gateway, surface, tenant):
    """A stranger's address, to which all was tried that mails it; the invitation's refusal, or None."""
    stranger, refusal = f"stranger-{uuid4().hex}@example.com", None
    customer = await surface.create_customer(data={"email": stranger})
    data = {"customer_id": customer["id"], "price_amount": 199_900, "file_size_bytes": 7}
    session = await surface.create_file_share_session(data=data)
    assert await surface.record_payment(id=session["id"], data=PAYMENT)
    await request(surface.with_token(None), tenant, stranger)
    try:
        owner = surface.with_token(tenant.personal_token)
        await owner.invite_workspace_member(data={"email": stranger, "workspace_id": tenant.id})
    except Refused as refused:
        refusal = refused
    return stranger, refusal


async def test_a_user_without_a_confirmed_address_mails_no_stranger(gateway, caller_of):
    """A fresh sign-up that has customers at strangers' addresses: payments are recorded, unmailed."""
    tenant = await make_tenant(gateway, status="active", name="Cancel at https://evil.test")
    await unconfirm(gateway, tenant)
    surface = caller_of(gateway, tenant.personal_token)
    failure = await refused(
        surface.invite_workspace_member(data={"email": "a@example.com", "workspace_id": tenant.id}),
        403,
        "not_permitted",
    )
    assert "confirmed email address" in failure.detail
    stranger, refusal = await try_everything(gateway, caller_of(gateway, tenant.token), tenant)
    assert (refusal.status, refusal.code) == (403, "not_permitted")
    assert await mails_to(gateway, stranger) == []
    # Its own address may be a stranger's too.
    assert await mails_to(gateway, tenant.user_email) == []
    members = (await surface.list_workspace_members(workspace_id=[tenant.id]))["data"]
    assert [member["email"] for member in members] == [tenant.user_email]


@pytest.mark.parametrize(("status", "why"), [("created", "is new"), ("denied", "was denied")])
async def test_an_unreviewed_or_denied_workspace_mails_no_stranger(status, why, in_earnest, caller_of):
    tenant = await make_tenant(in_earnest, status=status)
    stranger, refusal = await try_everything(in_earnest, caller_of(in_earnest, tenant.token), tenant)
    assert (refusal.status, refusal.code) == (403, "not_permitted")
    assert why in refusal.detail
    assert await mails_to(in_earnest, stranger) == []
    assert len(await mails_to(in_earnest, tenant.user_email)) == 1


async def test_a_workspace_under_review_mails_its_customers(in_earnest, caller_of):
    tenant = await make_tenant(in_earnest, status="onboarding_started")
    stranger, refusal = await try_everything(in_earnest, caller_of(in_earnest, tenant.token), tenant)
    assert refusal is None
    subjects = {mail.subject for mail in await mails_to(in_earnest, stranger)}
    assert len(subjects) == 3


async def test_on_a_developers_machine_where_mails_are_files_a_new_workspace_mails(gateway, caller_of):
    tenant = await make_tenant(gateway)
    stranger, refusal = await try_everything(gateway, caller_of(gateway, tenant.token), tenant)
    assert refusal is None
    assert len(await mails_to(gateway, stranger)) == 3


async def test_no_recipient_workspace_or_user_gets_beyond_its_budget(own_database_url, tmp_path, caller_of):
    """Payments are recorded all the same, and codes are counted apart from them."""
    limits = {"mail_limit_recipient": 3, "mail_limit_workspace": 5, "mail_limit_user": 0}
    async for gateway in run_gateway(own_database_url, tmp_path, **limits):
        tenant = await make_tenant(gateway)
        surface = caller_of(gateway, tenant.token)
        stranger = f"stranger-{uuid4().hex}@example.com"
        customer = await surface.create_customer(data={"email": stranger})
        data = {"customer_id": customer["id"], "price_amount": 199_900, "file_size_bytes": 7}
        session = await surface.create_file_share_session(data=data)
        for number in range(8):
            await surface.record_payment(id=session["id"], data={**PAYMENT, "external_id": f"p-{number}"})
        assert len(await mails_to(gateway, stranger)) == 3
        await request(surface.with_token(None), tenant, stranger)
        *_, latest = await mails_to(gateway, stranger)
        assert "Your code" in latest.subject
        owner = surface.with_token(tenant.personal_token)
        for number in range(2):
            await owner.invite_workspace_member(data={"email": f"i{number}-{stranger}"})
        await refused(owner.invite_workspace_member(data={"email": f"i3-{stranger}"}), 429, "rate_limited")


async def test_a_workspace_invites_no_more_than_its_number_of_people_a_day(
    own_database_url, tmp_path, caller_of
):
    async for gateway in run_gateway(own_database_url, tmp_path, invitation_limit=2):
        tenant, other = await make_tenant(gateway), await make_tenant(gateway)
        owner, another = (caller_of(gateway, each.personal_token) for each in (tenant, other))
        emails = [f"i{number}-{uuid4().hex}@example.com" for number in range(3)]
        for email in emails[:2]:
            await owner.invite_workspace_member(data={"email": email})
        failure = await refused(owner.invite_workspace_member(data={"email": emails[2]}), 429, "rate_limited")
        assert "Try again in 24 hours" in failure.detail
        assert await mails_to(gateway, emails[2]) == []
        await another.invite_workspace_member(data={"email": emails[2]})
        assert len(await mails_to(gateway, emails[2])) == 1


async def test_a_user_has_one_budget_for_all_their_workspaces(own_database_url, tmp_path, caller_of):
    async for gateway in run_gateway(own_database_url, tmp_path, mail_limit_user=2):
        tenant = await make_tenant(gateway)
        surface = caller_of(gateway, tenant.personal_token)
        data = {"name": "Another", "slug": f"w-{uuid4().hex}"}
        another = await surface.create_workspace(data=data)
        for place in (tenant.id, another["id"]):
            email = f"i-{uuid4().hex}@example.com"
            await surface.invite_workspace_member(data={"email": email, "workspace_id": place})
        await refused(
            surface.invite_workspace_member(data={"email": "i@example.com", "workspace_id": another["id"]}),
            429,
            "rate_limited",
        )


async def test_a_code_and_a_new_password_go_before_a_flood_of_other_mails(post):
    for number in range(5):
        await post.write(f"p{number}@example.com")
    await post.write("late@example.com", is_urgent=True)
    claimed = [await post.claim() for _ in range(2)]
    assert [mail.recipient for mail in claimed] == ["late@example.com", "p0@example.com"]
