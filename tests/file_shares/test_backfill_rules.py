"""What is wrong with a batch of histories, each problem at its place, and nothing of the batch stored."""

from datetime import timedelta

import pytest

from storage.clock import now
from tests.support.callers.refusals import UNKNOWN_ID, refusal
from tests.support.tenants.file_shares import FREE, PAID, at, facts_of, ingest, rows_of

HISTORY = FREE | {"external_id": "s-1", "downloads": [at(4)], "completed_at": at(9)}


async def test_all_problems_of_a_batch_are_named_and_nothing_of_it_is_stored(surface, gateway, tenant):
    one, _ = [
        await surface.create_customer(data={"email": f"{n}@example.com", "external_id": f"c-{n}"})
        for n in range(2)
    ]
    ahead = (now() + timedelta(minutes=6)).isoformat()
    before = "2026-01-31T08:59:59Z"
    bad = [
        {"created_at": ahead, "share_id": UNKNOWN_ID},
        {"customer_id": UNKNOWN_ID},
        {"customer_id": one["id"], "external_customer_id": "c-1"},
        {"downloads": [at(5), before, ahead, at(7)], "completed_at": at(5)},
        {"expired_at": before},
        {"payments": [PAID | {"at": before}, PAID | {"refunds": [{"amount": 1, "at": ahead}]}]},
        {
            "payments": [
                PAID
                | {
                    "refunds": [
                        {"amount": 1000, "at": at(6)},
                        {"amount": 501, "platform_fee": 76, "at": at(6)},
                    ]
                }
            ]
        },
    ]
    good = FREE | {"external_id": "good"}
    sent = [good, *(FREE | {"external_id": f"s-{n}"} | values for n, values in enumerate(bad))]
    problems = await refusal(ingest(surface, *sent))
    assert problems == {
        ("sessions", 1, "created_at"): "ahead",
        ("sessions", 1, "share_id"): "not_found",
        ("sessions", 2, "customer_id"): "not_found",
        ("sessions", 3, "external_customer_id"): "conflict",
        ("sessions", 4, "downloads", 1): "before_creation",
        ("sessions", 4, "downloads", 2): "after_end",
        ("sessions", 4, "downloads", 3): "after_end",
        ("sessions", 5, "expired_at"): "before_creation",
        ("sessions", 6, "payments", 0, "at"): "before_creation",
        ("sessions", 6, "payments", 1, "refunds", 0, "at"): "ahead",
        ("sessions", 7, "payments", 0, "refunds", 1, "amount"): "exceeded",
        ("sessions", 7, "payments", 0, "refunds", 1, "platform_fee"): "exceeded",
    }
    assert await rows_of(gateway, tenant) == [0, 0, 0, 0]
    assert not await facts_of(gateway, tenant)


@pytest.mark.parametrize(
    ("session", "problems"),
    [
        (
            {"colour": "red"},
            {
                ("sessions", 0, "external_id"): "missing",
                ("sessions", 0, "created_at"): "missing",
                ("sessions", 0, "file_size_bytes"): "missing",
                ("sessions", 0, "colour"): "extra_forbidden",
            },
        ),
        (HISTORY | {"expired_at": at(9)}, {("sessions", 0, "expired_at"): "conflict"}),
        (
            HISTORY | {"downloads": [at(1)] * 1001, "payments": [PAID] * 101},
            {("sessions", 0, "downloads"): "too_long", ("sessions", 0, "payments"): "too_long"},
        ),
        (
            HISTORY | {"payments": [{"amount": 1, "at": at(1)}]},
            {("sessions", 0, "payments", 0, "currency"): "missing"},
        ),
        (
            HISTORY | {"downloads": [at(1), "yesterday"]},
            {("sessions", 0, "downloads", 1): "datetime_parsing"},
        ),
    ],
)
async def test_what_a_history_lacks_is_named_at_its_place(surface, session, problems):
    assert await refusal(ingest(surface, session)) == problems


async def test_a_batch_holds_from_one_to_500_histories(surface):
    assert await refusal(ingest(surface)) == {("sessions",): "too_short"}
    many = [FREE | {"external_id": f"s-{n}"} for n in range(501)]
    assert await refusal(ingest(surface, *many)) == {("sessions",): "too_long"}
    assert await ingest(surface, *many[:500]) == {"inserted": 500, "duplicates": 0}


async def test_an_external_id_of_another_payment_or_refund_is_refused(surface, gateway, tenant):
    refunds = [{"amount": 1, "at": at(6), "external_id": "r-1"}]
    payment = PAID | {"external_id": "p-1", "refunds": refunds}
    await ingest(surface, FREE | {"external_id": "s-1", "payments": [payment]})
    facts = await facts_of(gateway, tenant)
    new = PAID | {"external_id": "p-2"}
    problems = await refusal(
        ingest(
            surface,
            FREE | {"external_id": "s-2", "payments": [payment, new]},
            FREE | {"external_id": "s-3", "payments": [new]},
        )
    )
    assert problems == {
        ("sessions", 0, "payments", 0, "external_id"): "duplicate",
        ("sessions", 0, "payments", 0, "refunds", 0, "external_id"): "duplicate",
        ("sessions", 1, "payments", 0, "external_id"): "duplicate",
    }
    assert await facts_of(gateway, tenant) == facts
