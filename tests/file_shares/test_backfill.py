"""Back-fill: whole histories of file-share sessions in one batch."""

import asyncio

from tests.support.callers.refusals import UNKNOWN_ID, refusal, refused
from tests.support.statements.statements import noted
from tests.support.tenants.file_shares import (
    FREE,
    PAID,
    PRICED,
    START,
    at,
    counts_of,
    facts_of,
    ingest,
    rows_of,
)

WHOLE = PRICED | {
    "external_id": "s-1",
    "external_customer_id": "visitor",
    "downloads": [at(4), at(2), at(4)],
    "payments": [
        PAID | {"external_id": "p-1", "refunds": [{"amount": 500, "platform_fee": 25, "at": at(20)}]},
        {"amount": 10, "currency": "usd", "at": at(30), "refunds": [{"amount": 10, "at": at(31)}]},
    ],
    "completed_at": at(9),
}


async def report(surface, history):
    """The same history, reported step by step as it happened."""
    parts = {"downloads", "payments", "completed_at", "expired_at"}
    opening = {name: value for name, value in history.items() if name not in parts}
    session = await surface.create_file_share_session(data=opening)
    for moment in sorted(history.get("downloads", [])):
        await surface.record_download(id=session["id"], data={"at": moment})
    ends = {
        "completed_at": surface.complete_file_share_session,
        "expired_at": surface.expire_file_share_session,
    }
    for name, end in ends.items():
        if name in history:
            await end(id=session["id"], data={"at": history[name]})
    for sent in history.get("payments", []):
        payment = {name: value for name, value in sent.items() if name != "refunds"}
        made = await surface.record_payment(id=session["id"], data=payment)
        for refund in sent.get("refunds", []):
            await surface.refund_payment(id=made["id"], data=refund)
    return session["id"]


HISTORIES = [
    WHOLE,
    FREE | {"external_id": "s-2"},
    FREE | {"external_id": "s-3", "downloads": [at(1)], "payments": [PAID]},
    PRICED | {"external_id": "s-4", "expired_at": at(3)},
    PRICED | {"external_id": "s-5", "downloads": [at(3), at(2)], "expired_at": at(3)},
    PRICED | {"external_id": "s-6", "price_amount": 0, "downloads": [START], "completed_at": START},
]


async def test_a_history_measures_the_same_by_back_fill_as_live(surface, gateway, tenant, other_tenant):
    live = surface.with_token(other_tenant.token)
    ids = [await report(live, history) for history in HISTORIES]
    assert await ingest(surface, *HISTORIES) == {"inserted": 6, "duplicates": 0}
    facts = await facts_of(gateway, tenant)
    assert facts == await facts_of(gateway, other_tenant)
    assert facts.total() == 30
    assert await rows_of(gateway, tenant) == await rows_of(gateway, other_tenant) == [6, 7, 3, 2]

    own = {"id", "modified_at", "workspace_id"}
    page = await surface.list_file_share_sessions(limit=100)
    made = {session["external_id"]: session for session in page["data"]}
    for history, id in zip(HISTORIES, ids, strict=True):
        told, reported = made[history["external_id"]], await live.get_file_share_session(id=id)
        assert {k: v for k, v in told.items() if k not in own} == {
            k: v for k, v in reported.items() if k not in own
        }


async def test_a_back_filled_session_goes_on_live(surface, gateway, tenant):
    await ingest(surface, PRICED | {"external_id": "s-1", "downloads": [at(4)], "payments": [PAID]})
    (session,) = (await surface.list_file_share_sessions())["data"]
    assert [session[name] for name in ("status", "download_count", "first_download_at", "modified_at")] == [
        "active",
        1,
        at(4),
        None,
    ]
    await surface.record_download(id=session["id"], data={"at": at(2)})
    await surface.record_payment(id=session["id"], data=PAID)
    too_early = surface.complete_file_share_session(id=session["id"], data={"at": at(3)})
    assert await refusal(too_early) == {("at",): "before_download"}
    counts = await counts_of(gateway, tenant)
    assert {key: n for key, n in counts.items() if key[0] in ("activation", "conversion")} == {
        ("activation", "31 09:02"): 1,
        ("conversion", "31 09:00"): 1,
    }


async def test_share_customer_and_currency_are_found_for_the_whole_batch(surface, tenant):
    await surface.update_workspace(id=tenant.id, data={"default_presentment_currency": "sek"})
    share = await surface.create_share(data={"name": "Report", "prices": [{"amount_type": "free"}]})
    customer = await surface.create_customer(data={"email": "ada@example.com", "external_id": "c-1"})
    await surface.delete_share(id=share["id"])
    named = FREE | {"price_amount": 5, "share_id": share["id"]}
    await ingest(
        surface,
        named | {"external_id": "s-1", "customer_id": customer["id"]},
        named | {"external_id": "s-2", "external_customer_id": "c-1"},
    )
    # An archived share has a history too.
    page = await surface.list_file_share_sessions(share_id=[share["id"]])
    found = {tuple(session[name] for name in ("customer_id", "price_currency")) for session in page["data"]}
    assert (found, page["meta"]["total"]) == ({(customer["id"], "sek")}, 2)


async def test_a_known_or_repeated_external_id_is_a_duplicate_that_changes_nothing(surface, gateway, tenant):
    assert await ingest(surface, WHOLE) == {"inserted": 1, "duplicates": 0}
    facts = await facts_of(gateway, tenant)
    assert await ingest(surface, WHOLE, WHOLE) == {"inserted": 0, "duplicates": 2}
    assert await facts_of(gateway, tenant) == facts
    new, other = FREE | {"external_id": "s-2"}, PRICED | {"external_id": "s-2", "share_id": UNKNOWN_ID}
    assert await ingest(surface, WHOLE, new, other) == {"inserted": 1, "duplicates": 2}
    assert await facts_of(gateway, tenant) - facts == {
        fact: 1 for fact in await facts_of(gateway, tenant) if fact[0] == "free_session"
    }


async def test_batches_at_once_take_each_history_once(surface, gateway, tenant):
    histories = [
        FREE | {"external_id": f"s-{n}", "payments": [PAID | {"external_id": f"p-{n}"}]} for n in range(40)
    ]
    batches = [histories[:30], histories[10:][::-1], histories, histories[::-1], histories[5:35]]
    answers = await asyncio.gather(*(ingest(surface, *batch) for batch in batches))
    assert sum(answer["inserted"] for answer in answers) == 40
    sizes = [answer["inserted"] + answer["duplicates"] for answer in answers]
    assert sizes == [len(batch) for batch in batches]
    assert await counts_of(gateway, tenant) == {("free_session", "31 09:00"): 40, ("payment", "31 09:05"): 40}


async def test_a_retry_under_one_key_gets_the_same_counts(surface):
    once = surface.with_headers(idempotency_key="once")
    first, again = [await ingest(once, WHOLE) for _ in range(2)]
    assert first == again == {"inserted": 1, "duplicates": 0}


async def test_a_workspace_can_be_named_and_another_ones_is_not_found(surface, tenant, other_tenant):
    data = {"sessions": [FREE | {"external_id": "s-1"}]}
    await refused(
        surface.ingest_file_share_sessions(data=data | {"workspace_id": other_tenant.id}), 404, "not_found"
    )
    done = await surface.ingest_file_share_sessions(data=data | {"workspace_id": tenant.id})
    assert done["inserted"] == 1


async def test_a_batch_takes_as_many_statements_for_two_histories_as_for_a_hundred(surface, gateway):
    counts = []
    for size in (2, 100):
        histories = [
            WHOLE
            | {
                "external_id": f"{size}-{n}",
                "external_customer_id": f"{size}-{n}",
                "payments": [PAID | {"external_id": f"{size}-{n}"}],
            }
            for n in range(size)
        ]
        with noted(gateway.database) as statements:
            await ingest(surface, *histories)
        counts.append(len(statements))
    assert counts[1] <= counts[0] + 2
    assert counts[1] <= 25
