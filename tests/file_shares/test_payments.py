"""Payments for file-share sessions and their refunds, as they are reported live."""

import asyncio
from datetime import datetime, timedelta

import pytest

from storage.clock import now
from tests.support.callers.refusals import UNKNOWN_ID, refusal
from tests.support.callers.surfaces import Refused
from tests.support.tenants.file_shares import COLUMNS, FREE, PAID, PRICED, at, counts_of, facts_of

AT_ONCE = 6
REPORTED = ("external_id", "amount", "platform_fee", "currency", "at")


@pytest.fixture
async def session(surface):
    return await surface.create_file_share_session(data=PRICED)


@pytest.fixture
async def payment(surface, session):
    return await surface.record_payment(id=session["id"], data=PAID | {"external_id": "p-1"})


async def money_of(gateway, tenant, *kinds):
    """Amount, fee and currency of the facts of these kinds, and the minutes at which they lie."""
    facts = [dict(zip(COLUMNS, fact, strict=True)) for fact in (await facts_of(gateway, tenant)).elements()]
    start = int(datetime.fromisoformat(FREE["created_at"]).timestamp())
    return sorted(
        (fact["moment"] // 1_000_000 // 60 - start // 60, fact["amount"], fact["fee"], fact["currency"])
        for fact in facts
        if fact["kind"] in kinds
    )


async def test_a_payment_is_given_back_as_sent_without_refunds(surface, session, payment):
    assert payment == PAID | {
        "id": payment["id"],
        "created_at": payment["created_at"],
        "modified_at": None,
        "workspace_id": session["workspace_id"],
        "file_share_session_id": session["id"],
        "share_id": None,
        "customer_id": None,
        "external_id": "p-1",
        "refunded_amount": 0,
        "refunds": [],
    }
    assert await surface.get_file_share_payment(id=payment["id"]) == payment


async def test_a_payment_without_a_moment_or_fee_is_made_now_without_a_fee(surface, session):
    before = now()
    payment = await surface.record_payment(id=session["id"], data={"amount": 0, "currency": "jpy"})
    assert before <= datetime.fromisoformat(payment["at"]) <= now()
    assert (payment["amount"], payment["platform_fee"]) == (0, 0)


async def test_the_first_payment_converts_a_priced_session_where_it_began(surface, gateway, tenant, session):
    for minute in (8, 5):
        await surface.record_payment(id=session["id"], data=PAID | {"at": at(minute)})
    assert await counts_of(gateway, tenant) == {
        ("priced_session", "31 09:00"): 1,
        ("conversion", "31 09:00"): 1,
        ("payment", "31 09:08"): 1,
        ("payment", "31 09:05"): 1,
    }
    assert await money_of(gateway, tenant, "payment") == [(5, 1500, 75, "eur"), (8, 1500, 75, "eur")]


@pytest.mark.parametrize("price", [None, 0])
async def test_a_payment_for_a_free_session_is_no_conversion(surface, gateway, tenant, price):
    session = await surface.create_file_share_session(data=FREE | {"price_amount": price})
    await surface.record_payment(id=session["id"], data=PAID)
    assert await counts_of(gateway, tenant) == {("free_session", "31 09:00"): 1, ("payment", "31 09:05"): 1}


async def test_payments_and_refunds_may_come_after_the_end(surface, gateway, tenant, session):
    await surface.complete_file_share_session(id=session["id"], data={"at": at(1)})
    payment = await surface.record_payment(id=session["id"], data=PAID)
    await surface.refund_payment(id=payment["id"], data={"at": at(6)})
    assert (await surface.get_file_share_session(id=session["id"]))["status"] == "completed"
    assert (await counts_of(gateway, tenant))["refund", "31 09:06"] == 1


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        ({}, {("amount",): "missing", ("currency",): "missing"}),
        (PAID | {"amount": -1}, {("amount",): "greater_than_equal"}),
        (PAID | {"amount": 100_000_000}, {("amount",): "less_than_equal"}),
        (PAID | {"amount": "5"}, {("amount",): "int_type"}),
        (PAID | {"platform_fee": -1}, {("platform_fee",): "greater_than_equal"}),
        (PAID | {"currency": "xyz"}, {("currency",): "enum"}),
        (PAID | {"external_id": ""}, {("external_id",): "string_too_short"}),
        (PAID | {"at": "2026-01-31T08:59:59Z"}, {("at",): "before_creation"}),
    ],
)
async def test_what_is_wrong_with_a_payment_is_named_at_its_place(
    surface, gateway, tenant, session, data, problems
):
    assert await refusal(surface.record_payment(id=session["id"], data=data)) == problems
    assert await money_of(gateway, tenant, "payment", "conversion") == []


async def test_payments_and_refunds_are_at_most_five_minutes_ahead(surface, session, payment):
    ahead = {"at": (now() + timedelta(minutes=6)).isoformat()}
    assert await refusal(surface.record_payment(id=session["id"], data=PAID | ahead)) == {("at",): "ahead"}
    assert await refusal(surface.refund_payment(id=payment["id"], data=ahead)) == {("at",): "ahead"}


async def test_a_repeat_of_a_payment_changes_nothing_even_if_it_differs(
    surface, gateway, tenant, session, payment
):
    facts = await facts_of(gateway, tenant)
    repeat = {"amount": 1, "currency": "usd", "external_id": "p-1", "at": "2001-01-31T09:00:00Z"}
    assert await surface.record_payment(id=session["id"], data=repeat) == payment
    assert await facts_of(gateway, tenant) == facts


async def test_an_external_id_of_another_session_or_payment_is_no_repetition(surface, session, payment):
    other = await surface.create_file_share_session(data=FREE)
    second = await surface.record_payment(id=other["id"], data=PAID | {"external_id": "p-2"})
    report = {"external_id": "same", "at": at(5)}
    await surface.record_download(id=session["id"], data=report)
    await surface.refund_payment(id=payment["id"], data=report | {"amount": 1})
    for call, id, data in (
        (surface.record_payment, other["id"], PAID | {"external_id": "p-1"}),
        (surface.record_download, other["id"], report),
        (surface.refund_payment, second["id"], report | {"amount": 1}),
    ):
        with pytest.raises(Refused) as refused:
            await call(id=id, data=data)
        assert refused.value.problems == {("external_id",): "duplicate"}
    assert await surface.get_file_share_payment(id=second["id"]) == second


async def test_a_refund_is_not_before_its_payment(surface, session, payment):
    with pytest.raises(Refused) as refused:
        await surface.refund_payment(id=payment["id"], data={"amount": 1, "at": at(4)})
    assert refused.value.problems == {("at",): "before_payment"}
    ahead = (now() + timedelta(minutes=3)).isoformat()
    later = await surface.record_payment(id=session["id"], data=PAID | {"at": ahead, "external_id": "p-2"})
    refunded = await surface.refund_payment(id=later["id"], data={"amount": 1})
    assert refunded["refunds"][0]["at"] == later["at"]


async def test_a_refund_without_an_amount_gives_back_all_that_is_left(
    surface, gateway, tenant, session, payment
):
    part = await surface.refund_payment(
        id=payment["id"], data={"amount": 400, "platform_fee": 20, "at": at(7), "external_id": "r-1"}
    )
    assert part["refunded_amount"] == 400
    whole = await surface.refund_payment(id=payment["id"], data={"at": at(6)})
    assert (whole["amount"], whole["refunded_amount"]) == (1500, 1500)
    refunds = [{name: refund[name] for name in REPORTED} for refund in whole["refunds"]]
    assert refunds == [
        {"external_id": None, "amount": 1100, "platform_fee": 0, "currency": "eur", "at": at(6)},
        {"external_id": "r-1", "amount": 400, "platform_fee": 20, "currency": "eur", "at": at(7)},
    ]
    assert await surface.get_file_share_payment(id=payment["id"]) == whole
    assert await money_of(gateway, tenant, "refund") == [(6, -1100, 0, "eur"), (7, -400, -20, "eur")]
    # A refund takes no conversion back.
    assert (await counts_of(gateway, tenant))["conversion", "31 09:00"] == 1


async def test_no_more_is_refunded_than_is_left(surface, gateway, tenant, payment):
    async def refused(**data):
        return await refusal(surface.refund_payment(id=payment["id"], data=data))

    assert await refused(amount=1501) == {("amount",): "exceeded"}
    assert await refused(amount=1501, platform_fee=76) == {
        ("amount",): "exceeded",
        ("platform_fee",): "exceeded",
    }
    assert await refused(amount=-1) == {("amount",): "greater_than_equal"}
    assert await refused(at="2026-01-31T08:00:00Z") == {("at",): "before_creation"}
    await surface.refund_payment(id=payment["id"], data={"amount": 1499, "platform_fee": 75})
    assert await refused(amount=2) == {("amount",): "exceeded"}
    assert await refused(amount=1, platform_fee=1) == {("platform_fee",): "exceeded"}
    await surface.refund_payment(id=payment["id"], data={"amount": 1})
    assert await refused() == {("amount",): "exceeded"}
    assert len(await money_of(gateway, tenant, "refund")) == 2


async def test_a_repeat_of_a_refund_changes_nothing_even_if_it_differs(
    surface, gateway, tenant, session, payment
):
    done = await surface.refund_payment(id=payment["id"], data={"amount": 400, "external_id": "r-1"})
    facts = await facts_of(gateway, tenant)
    repeat = {"amount": 9999, "external_id": "r-1"}
    assert await surface.refund_payment(id=payment["id"], data=repeat) == done
    assert await facts_of(gateway, tenant) == facts


@pytest.mark.parametrize("name", ["record_payment", "refund_payment", "get_file_share_payment"])
async def test_what_is_unknown_or_another_workspaces_is_not_found(
    surface, other_tenant, session, payment, name
):
    data = {"data": {"amount": 1, "currency": "usd"} if name == "record_payment" else {}}
    rest = {} if name.startswith("get") else data
    own = session["id"] if name == "record_payment" else payment["id"]
    for caller, id in ((surface, UNKNOWN_ID), (surface.with_token(other_tenant.token), own)):
        with pytest.raises(Refused, match="not_found") as refused:
            await caller.ask(name, {"id": id, **rest})
        assert refused.value.status == 404


async def test_payments_with_one_external_id_at_once_are_one(surface, gateway, tenant):
    sessions = [await surface.create_file_share_session(data=PRICED) for _ in range(3)]
    data = PAID | {"external_id": "p-1"}
    calls = [surface.record_payment(id=session["id"], data=data) for session in sessions * 2]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    # The session that was first has it, and the others are told so.
    assert len({answer["id"] for answer in answers if not isinstance(answer, Refused)}) == 1
    refused = [one.problems for one in answers if isinstance(one, Refused)]
    assert refused == [{("external_id",): "duplicate"}] * 4
    counts = await counts_of(gateway, tenant)
    assert (counts["payment", "31 09:05"], counts["conversion", "31 09:00"]) == (1, 1)


async def test_payments_at_once_convert_a_session_once(surface, gateway, tenant, session):
    await asyncio.gather(*(surface.record_payment(id=session["id"], data=PAID) for _ in range(AT_ONCE)))
    counts = await counts_of(gateway, tenant)
    assert (counts["payment", "31 09:05"], counts["conversion", "31 09:00"]) == (AT_ONCE, 1)


async def test_refunds_at_once_never_give_back_more_than_was_paid(surface, gateway, tenant, payment):
    calls = [surface.refund_payment(id=payment["id"], data={"amount": 500}) for _ in range(AT_ONCE)]
    done = await asyncio.gather(*calls, return_exceptions=True)
    refused = [one.problems for one in done if isinstance(one, Refused)]
    assert refused == [{("amount",): "exceeded"}] * (AT_ONCE - 3)
    assert sum(amount for _, amount, _, _ in await money_of(gateway, tenant, "refund")) == -1500


async def test_over_rest_what_is_new_is_201_and_a_repeat_or_a_refund_200(gateway, tenant):
    headers = {"Authorization": f"Bearer {tenant.token}"}

    async def post(path, body):
        return await gateway.client.post(f"/api{path}", json=body, headers=headers)

    session = (await post("/file-share-sessions/", PRICED)).json()
    path, body = f"/file-share-sessions/{session['id']}/payments", PAID | {"external_id": "p-1"}
    first, second = [await post(path, body) for _ in range(2)]
    assert (first.status_code, second.status_code) == (201, 200)
    refund = f"/file-share-payments/{first.json()['id']}/refund"
    answers = [await post(refund, {"amount": 1, "external_id": "r-1"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()


async def test_a_retry_under_one_key_reports_one_payment_and_one_refund(surface, gateway, tenant, session):
    once = surface.with_headers(idempotency_key="once")
    first, again = [await once.record_payment(id=session["id"], data=PAID) for _ in range(2)]
    assert again == first
    refunds = [await once.refund_payment(id=first["id"], data={"amount": 1}) for _ in range(2)]
    assert refunds[0] == refunds[1]
    counts = await counts_of(gateway, tenant)
    assert [n for (kind, _), n in counts.items() if kind in ("payment", "refund")] == [1, 1]


async def test_a_retry_under_the_same_key_shows_the_payment_as_it_is_now(surface, session):
    once = surface.with_headers(idempotency_key=session["id"])
    first = await once.record_payment(id=session["id"], data=PAID)
    refunded = await surface.refund_payment(id=first["id"], data={})
    again = await once.ask("record_payment", {"id": session["id"], "data": PAID})
    assert again.value == refunded
    assert again.headers["idempotency-replayed"] == "true"
