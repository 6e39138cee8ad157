"""What counts as paid: the price, in its currency, less what was refunded; and what is left until then."""

from random import Random
from uuid import UUID, uuid4

import pytest
from sqlalchemy import update

from storage.rows.rows import table_of
from storage.tables.shares.file_share_sessions import FileShareSessionRow
from tests.support.callers.refusals import refused
from tests.support.callers.surfaces import Refused
from tests.support.tenants.uploads import upload_file

_sessions = table_of(FileShareSessionRow)
FREE = {"amount_type": "free"}
CHOSEN = {"amount_type": "custom", "minimum_amount": 500, "preset_amount": 1500, "price_currency": "eur"}
PRICE = {"price_amount": 1500, "price_currency": "eur"}


@pytest.fixture
async def portal(surface, customer):
    session = await surface.create_customer_session(data={"customer_id": customer["id"]})
    return surface.with_token(session["token"])


@pytest.fixture
async def file(surface):
    return await upload_file(surface, b"birds")


@pytest.fixture
def sell(surface, customer, file):
    """Begin a session with a share that has this price and a file."""

    async def begin(price=FREE, **values):
        data = {"name": "Guide", "prices": [price], "downloads": [file["id"]]}
        share = await surface.create_share(data=data)
        data = {"share_id": share["id"], "customer_id": customer["id"], "file_size_bytes": 5}
        return await surface.create_file_share_session(data=data | values)

    return begin


@pytest.fixture
def left(portal, file):
    """What the portal says is left to pay, after it has opened the file or refused to, as it should."""

    async def read(session):
        seen = await portal.get_portal_file_share_session(id=session["id"])
        assert (await portal.list_portal_file_share_sessions(limit=100))["data"].count(seen) == 1
        assert seen["can_download"] == (seen["left_to_pay"] == 0)
        opening = portal.download_portal_file(id=session["id"], data={"file_id": file["id"]})
        if seen["can_download"]:
            await opening
        else:
            await refused(opening, 403, "not_permitted")
        return seen["left_to_pay"]

    return read


async def test_part_payments_add_up_to_the_price(surface, sell, left):
    session = await sell(**PRICE)
    assert await left(session) == 1500
    for amount, rest in ((0, 1500), (1, 1499), (999, 500), (500, 0), (7, 0)):
        await surface.record_payment(id=session["id"], data={"amount": amount, "currency": "eur"})
        assert await left(session) == rest


async def test_a_payment_in_another_currency_pays_nothing(surface, sell, left):
    session = await sell(price_amount=1500, price_currency="usd")
    await surface.record_payment(id=session["id"], data={"amount": 1500, "currency": "jpy"})
    assert await left(session) == 1500


async def test_a_refund_closes_what_it_leaves_unpaid(surface, sell, left):
    session = await sell(**PRICE)
    payment = await surface.record_payment(id=session["id"], data={"amount": 2000, "currency": "eur"})
    for amount, rest in ((500, 0), (1, 1), (1498, 1499), (1, 1500)):
        await surface.refund_payment(id=payment["id"], data={"amount": amount})
        assert await left(session) == rest


@pytest.mark.parametrize(
    ("price", "session", "due"),
    [
        (CHOSEN, PRICE, 500),
        (CHOSEN, PRICE | {"price_amount": 300}, 300),
        (CHOSEN, PRICE | {"price_currency": "usd"}, 1500),
        (CHOSEN | {"minimum_amount": None}, PRICE, 1),
        (CHOSEN | {"minimum_amount": 0}, PRICE, 1),
        (CHOSEN, {"price_amount": 0}, 0),
        (CHOSEN, {}, 0),
        ({"amount_type": "fixed", "price_amount": 900, "price_currency": "eur"}, PRICE, 1500),
    ],
)
async def test_of_a_price_that_the_buyer_chooses_the_minimum_is_enough(
    surface, sell, left, price, session, due
):
    sold = await sell(price, **session)
    assert await left(sold) == due
    if due:
        currency = session["price_currency"]
        await surface.record_payment(id=sold["id"], data={"amount": due - 1, "currency": currency})
        assert await left(sold) == 1
        await surface.record_payment(id=sold["id"], data={"amount": 1, "currency": currency})
        assert await left(sold) == 0


async def test_a_later_price_of_the_share_changes_nothing_for_a_session(surface, sell, left):
    sold = await sell(CHOSEN, **PRICE)
    dearer = CHOSEN | {"minimum_amount": 900}
    await surface.update_share(id=sold["share_id"], data={"prices": [dearer]})
    assert await left(sold) == 500


async def test_the_refusal_says_what_is_left(surface, portal, sell, file):
    session = await sell(**PRICE)
    opening = {"id": session["id"], "data": {"file_id": file["id"]}}
    with pytest.raises(Refused, match=r"not paid for: €15\.00 is left to pay"):
        await portal.download_portal_file(**opening)
    await surface.record_payment(id=session["id"], data={"amount": 1000, "currency": "eur"})
    with pytest.raises(Refused, match=r"do not reach the price: €5\.00 is left to pay"):
        await portal.download_portal_file(**opening)


async def make_older(gateway, tenant, *sessions):
    """Make the sessions what they were when it was not kept what has to be paid."""
    own = _sessions.c.workspace_id == UUID(tenant.id)
    these = _sessions.c.id.in_([UUID(session["id"]) for session in sessions])
    async with gateway.database.write() as connection:
        await connection.execute(update(_sessions).where(own, these).values(due_amount=None))


async def test_a_session_from_before_the_amount_was_kept_opens_as_it_did(
    gateway, tenant, surface, sell, left
):
    unpaid, paid, voucher = [await sell(**PRICE) for _ in range(3)]
    foreign = await sell(**PRICE)
    await make_older(gateway, tenant, unpaid, paid, voucher, foreign)
    payment = await surface.record_payment(id=paid["id"], data={"amount": 2, "currency": "eur"})
    await surface.record_payment(id=voucher["id"], data={"amount": 0, "currency": "eur"})
    await surface.record_payment(id=foreign["id"], data={"amount": 2, "currency": "jpy"})
    assert [await left(each) for each in (unpaid, paid, voucher, foreign)] == [1500, 0, 0, 0]
    await surface.refund_payment(id=payment["id"], data={"amount": 1})
    assert await left(paid) == 0
    await surface.refund_payment(id=payment["id"], data={})
    assert await left(paid) == 1500


def random_history(chance, share, customer):
    """A session with payments and refunds as a workspace may report them."""
    currencies = ["eur", "eur", "usd"]
    payments = []
    for _ in range(chance.randrange(4)):
        amount = chance.choice([0, 1, 499, 500, 1000, 1500])
        refunds = [{"amount": chance.randint(1, max(1, amount // 2))} for _ in range(chance.randrange(3))]
        refunds = refunds if amount > 1 else []
        payment = {"amount": amount, "currency": chance.choice(currencies), "at": "2026-01-31T09:10:00Z"}
        payments.append(payment | {"refunds": [each | {"at": "2026-01-31T09:20:00Z"} for each in refunds]})
    price = chance.choice([{}, {"price_amount": 0}, *[{"price_amount": n} for n in (1, 500, 1000, 1500)]])
    return {
        "external_id": uuid4().hex,
        "created_at": "2026-01-31T09:00:00Z",
        "share_id": share,
        "customer_id": customer["id"],
        "file_size_bytes": 5,
        "payments": payments,
        "price_currency": chance.choice(currencies) if price else None,
        **price,
    }


def left_of(history, least):
    """What is left to pay, by the words of docs/portal.md; `least` the minimum of a chosen price."""
    price, currency = history.get("price_amount") or 0, history["price_currency"]
    due = max(1, min(price, least)) if price and least is not None and currency == "eur" else price
    kept = sum(
        payment["amount"] - sum(refund["amount"] for refund in payment["refunds"])
        for payment in history["payments"]
        if payment["currency"] == currency
    )
    return max(0, due - kept)


@pytest.mark.parametrize("seed", range(2))
async def test_whatever_is_reported_the_database_counts_as_the_words_say(surface, portal, customer, seed):
    chance = Random(seed)
    least_amounts = {"none": None, "some": 500, "no": 0}
    histories, expected = [], []
    for least in least_amounts.values():
        price = FREE if least is None else CHOSEN | {"minimum_amount": least}
        share = await surface.create_share(data={"name": "Guide", "prices": [price]})
        mine = [random_history(chance, share["id"], customer) for _ in range(30)]
        histories += mine
        expected += [left_of(history, least) for history in mine]
    await surface.ingest_file_share_sessions(data={"sessions": histories})
    seen = (await portal.list_portal_file_share_sessions(limit=100))["data"]
    by_id = {each["external_id"]: (each["left_to_pay"], each["can_download"]) for each in seen}
    assert [by_id[each["external_id"]] for each in histories] == [(left, not left) for left in expected]
    assert 10 < expected.count(0) < 80
