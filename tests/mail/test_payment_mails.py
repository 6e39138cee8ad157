"""A live payment is mailed to the customer and the members, as the workspace wishes."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import pytest_asyncio

from schema.values.prose import write_amount, write_day
from schema.values.scalars import write_moment
from tests.support.callers.surfaces import Refused
from tests.support.mails.mailed import mails_to

PAYMENT = {"amount": 1900, "currency": "usd"}


def day_of(payment):
    """The day of a payment as mails write it."""
    return write_day(datetime.fromisoformat(payment["created_at"]))


def moment(**ago):
    return write_moment(datetime.now(UTC) - timedelta(**ago))


def new_email():
    return f"c-{uuid4().hex}@example.com"


@pytest.fixture
def email():
    return new_email()


@pytest_asyncio.fixture
async def session(surface, email):
    """A session of a customer for a share."""
    customer = await surface.create_customer(data={"email": email, "name": "Ada <b>Lovelace</b>"})
    share = await surface.create_share(data={"name": "Field guide", "prices": [{"amount_type": "free"}]})
    data = {
        "customer_id": customer["id"],
        "share_id": share["id"],
        "price_amount": 1900,
        "file_size_bytes": 7,
    }
    return await surface.create_file_share_session(data=data)


async def test_the_customer_is_notified_of_a_payment(surface, gateway, tenant, session, email):
    await surface.update_workspace(id=tenant.id, data={"email": "help@example.com"})
    payment = await surface.record_payment(id=session["id"], data=PAYMENT)
    (mail,) = await mails_to(gateway, email)
    assert mail.subject == "Your payment of $19.00 to Acme"
    assert mail.text.split("\n\n") == [
        "Hello Ada <b>Lovelace</b>,",
        f"Acme has received your payment of $19.00 for “Field guide” on {day_of(payment)}. Thank you!",
        "Sign in to the customer portal with this address to see your purchases and download their files.\n"
        f"http://gateway/{tenant.slug}/portal",
        "Questions? Write to help@example.com.",
        "-- \nAcme\n",
    ]
    assert "Hello Ada &lt;b&gt;Lovelace&lt;/b&gt;," in mail.html
    assert "<strong>$19.00</strong>" in mail.html


async def test_every_member_is_notified_of_a_payment_and_no_invited_address(
    surface, gateway, tenant, session, email
):
    invited = new_email()
    owner = surface.with_token(tenant.personal_token)
    await owner.invite_workspace_member(data={"email": invited})
    payment = await surface.record_payment(id=session["id"], data=PAYMENT)
    (mail,) = await mails_to(gateway, tenant.user_email)
    assert mail.subject == "New payment of $19.00 in Acme"
    assert f"Ada <b>Lovelace</b> paid $19.00 for “Field guide” on {day_of(payment)}." in mail.text
    assert len(await mails_to(gateway, invited)) == 1


async def test_a_payment_without_a_customer_is_mailed_to_the_members_only(surface, gateway, tenant):
    session = await surface.create_file_share_session(data={"price_amount": 1900, "file_size_bytes": 7})
    payment = await surface.record_payment(id=session["id"], data=PAYMENT)
    (mail,) = await mails_to(gateway, tenant.user_email)
    assert f"A customer paid $19.00 on {day_of(payment)}." in mail.text


@pytest.mark.parametrize(
    ("settings", "to_customer", "to_member"),
    [
        ({"customer_email_settings": {"payment_confirmation": False}}, 0, 1),
        ({"notification_settings": {"new_payment": False}}, 1, 0),
    ],
)
async def test_what_is_switched_off_is_not_mailed(
    surface, gateway, tenant, session, email, settings, to_customer, to_member
):
    await surface.update_workspace(id=tenant.id, data=settings)
    await surface.record_payment(id=session["id"], data=PAYMENT)
    assert len(await mails_to(gateway, email)) == to_customer
    assert len(await mails_to(gateway, tenant.user_email)) == to_member


async def test_a_customer_who_was_deleted_gets_no_mail(surface, gateway, tenant, session, email):
    await surface.delete_customer(id=session["customer_id"])
    await surface.record_payment(id=session["id"], data=PAYMENT)
    assert await mails_to(gateway, email) == []
    assert len(await mails_to(gateway, tenant.user_email)) == 1


async def test_a_payment_of_some_minutes_ago_is_live_and_one_of_hours_ago_is_history(surface, gateway, email):
    customer = await surface.create_customer(data={"email": email})
    data = {"customer_id": customer["id"], "file_size_bytes": 7, "created_at": moment(days=2)}
    session = await surface.create_file_share_session(data=data)
    await surface.record_payment(id=session["id"], data={**PAYMENT, "at": moment(hours=2)})
    assert await mails_to(gateway, email) == []
    await surface.record_payment(id=session["id"], data={**PAYMENT, "at": moment(minutes=5)})
    assert len(await mails_to(gateway, email)) == 1


async def test_a_back_fill_sends_no_mail(surface, gateway, tenant, email):
    customer = await surface.create_customer(data={"email": email})
    history = {
        "external_id": "s-1",
        "created_at": moment(minutes=5),
        "file_size_bytes": 7,
        "price_amount": 1900,
        "customer_id": customer["id"],
        "payments": [{**PAYMENT, "at": moment(minutes=1)}],
    }
    await surface.ingest_file_share_sessions(data={"sessions": [history]})
    assert await mails_to(gateway, email) == await mails_to(gateway, tenant.user_email) == []


async def test_a_payment_that_is_reported_twice_is_mailed_once(surface, gateway, session, email):
    for _ in range(2):
        await surface.record_payment(id=session["id"], data={**PAYMENT, "external_id": "p-1"})
    keyed = surface.with_headers(Idempotency_Key="k-1")
    for _ in range(2):
        await keyed.record_payment(id=session["id"], data=PAYMENT)
    assert len(await mails_to(gateway, email)) == 2


async def test_a_payment_that_is_refused_is_not_mailed(surface, gateway, tenant, session, email):
    with pytest.raises(Refused):
        await surface.record_payment(id=session["id"], data={**PAYMENT, "at": moment(days=2)})
    with pytest.raises(Refused):
        await surface.record_payment(id=session["id"], data={**PAYMENT, "platform_fee": -1})
    assert await mails_to(gateway, email) == await mails_to(gateway, tenant.user_email) == []


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        (1900, "usd", "$19.00"),
        (123456, "eur", "€1,234.56"),
        (5, "gbp", "£0.05"),
        (1900, "jpy", "¥1,900"),
        (99_999_999, "inr", "₹999,999.99"),
        (0, "brl", "R$0.00"),
        (1900, "cad", "CA$19.00"),
        (1900, "chf", "CHF\N{NO-BREAK SPACE}19.00"),
    ],
)
def test_amounts_are_written_in_the_form_of_their_currency(amount, currency, text):
    assert write_amount(amount, currency) == text
