"""Downloads and ends of file-share sessions as they are reported live, and the facts of each."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from resolvers.file_shares import payments, sessions
from storage.clock import now
from tests.support.callers.refusals import UNKNOWN_ID, refusal, refused
from tests.support.callers.surfaces import Refused
from tests.support.tenants.file_shares import COLUMNS, FREE, PRICED, at, counts_of, facts_of

AT_ONCE = 6


async def test_moments_are_at_most_five_minutes_ahead(surface):
    near, far = [(now() + timedelta(minutes=minutes)).isoformat() for minutes in (4, 6)]
    ahead = surface.create_file_share_session(data=FREE | {"created_at": far})
    assert await refusal(ahead) == {("created_at",): "ahead"}
    session = await surface.create_file_share_session(data=FREE | {"created_at": near})
    for call in (surface.record_download, surface.complete_file_share_session):
        assert await refusal(call(id=session["id"], data={"at": far})) == {("at",): "ahead"}
    # Without a moment of its own a step comes no earlier than what it follows.
    downloaded = await surface.record_download(id=session["id"], data={})
    assert downloaded["first_download_at"] == session["created_at"]
    completed = await surface.complete_file_share_session(id=session["id"], data={})
    assert completed["ended_at"] == session["created_at"]


async def test_a_clock_that_was_set_back_refuses_no_step(surface, monkeypatch):
    session = await surface.create_file_share_session(data=PRICED | {"created_at": now().isoformat()})
    for module in (payments, sessions):
        monkeypatch.setattr(module, "now", lambda: now() - timedelta(hours=1))
    await surface.record_download(id=session["id"], data={})
    payment = await surface.record_payment(id=session["id"], data={"amount": 5, "currency": "eur"})
    refunded = await surface.refund_payment(id=payment["id"], data={})
    ended = await surface.complete_file_share_session(id=session["id"], data={})
    moments = [payment["at"], refunded["refunds"][0]["at"], ended["first_download_at"], ended["ended_at"]]
    assert moments == [session["created_at"]] * 4


async def test_the_first_download_makes_a_session_active_and_the_end_closes_it(surface, gateway, tenant):
    session = await surface.create_file_share_session(data=FREE)
    active = await surface.record_download(id=session["id"], data={"at": at(5)})
    assert active == session | {
        "status": "active",
        "download_count": 1,
        "first_download_at": at(5),
        "modified_at": active["modified_at"],
    }
    assert active["modified_at"] is not None
    await surface.record_download(id=session["id"], data={"at": at(7)})
    ended = await surface.complete_file_share_session(id=session["id"], data={"at": at(7)})
    assert [ended[name] for name in ("status", "download_count", "first_download_at", "ended_at")] == [
        "completed",
        2,
        at(5),
        at(7),
    ]
    assert await counts_of(gateway, tenant) == {
        ("free_session", "31 09:00"): 1,
        ("download", "31 09:05"): 1,
        ("activation", "31 09:05"): 1,
        ("download", "31 09:07"): 1,
        ("deactivation", "31 09:07"): 1,
        ("completion", "31 09:07"): 1,
    }


async def test_a_session_that_was_never_downloaded_expires_without_having_been_active(
    surface, gateway, tenant
):
    session = await surface.create_file_share_session(data=PRICED)
    ended = await surface.expire_file_share_session(id=session["id"], data={"at": at(9)})
    assert (ended["status"], ended["ended_at"]) == ("expired", at(9))
    assert await counts_of(gateway, tenant) == {("priced_session", "31 09:00"): 1, ("expiry", "31 09:09"): 1}


async def test_a_late_report_of_an_earlier_download_moves_the_activation(surface, gateway, tenant):
    session = await surface.create_file_share_session(data=FREE)
    for minute in (5, 3, 4):
        session = await surface.record_download(id=session["id"], data={"at": at(minute)})
    assert (session["first_download_at"], session["download_count"]) == (at(3), 3)
    counts = await counts_of(gateway, tenant)
    assert counts["activation", "31 09:03"] == 1
    assert ("activation", "31 09:05") not in counts
    log = await facts_of(gateway, tenant)
    written = sorted(fact[COLUMNS.index("count")] for fact in log.elements() if fact[0] == "activation")
    assert written == [-1, 1, 1]


async def test_a_first_download_reported_after_the_end_tells_when_the_session_was_active(
    surface, gateway, tenant
):
    session = await surface.create_file_share_session(data=FREE)
    await surface.expire_file_share_session(id=session["id"], data={"at": at(9)})
    late = await surface.record_download(id=session["id"], data={"at": at(5)})
    assert (late["status"], late["download_count"], late["ended_at"]) == ("expired", 1, at(9))
    counts = await counts_of(gateway, tenant)
    assert (counts["activation", "31 09:05"], counts["deactivation", "31 09:09"]) == (1, 1)


async def test_the_facts_name_share_person_size_and_price(surface, gateway, tenant, share):
    data = PRICED | {"share_id": share["id"], "external_customer_id": "visitor"}
    session = await surface.create_file_share_session(data=data)
    await surface.record_download(id=session["id"], data={"at": at(1)})
    facts = [dict(zip(COLUMNS, fact, strict=True)) for fact in await facts_of(gateway, tenant)]
    assert {str(fact["share_id"]) for fact in facts} == {share["id"]}
    assert len({fact["person"] for fact in facts} - {None}) == 1
    (begun,) = [fact for fact in facts if fact["kind"] == "priced_session"]
    assert [begun[name] for name in ("bytes", "amount", "currency", "fee")] == [2**40, 1500, "eur", 0]
    moment = datetime(2026, 1, 31, 9, tzinfo=UTC)
    assert begun["moment"] == int(moment.timestamp()) * 1_000_000


async def test_what_cannot_have_happened_is_refused_at_its_place(surface, gateway, tenant):
    session = await surface.create_file_share_session(data=FREE)
    id, before = session["id"], "2026-01-31T08:59:59.999999Z"
    for call in (
        surface.record_download,
        surface.complete_file_share_session,
        surface.expire_file_share_session,
    ):
        assert await refusal(call(id=id, data={"at": before})) == {("at",): "before_creation"}
    await surface.record_download(id=id, data={"at": at(5)})
    too_early = surface.complete_file_share_session(id=id, data={"at": at(4)})
    assert await refusal(too_early) == {("at",): "before_download"}
    await surface.complete_file_share_session(id=id, data={"at": at(6)})
    facts = await facts_of(gateway, tenant)
    assert await refusal(surface.record_download(id=id, data={"at": at(7)})) == {("at",): "after_end"}
    assert await refusal(surface.record_download(id=id, data={})) == {("at",): "after_end"}
    assert await refusal(surface.complete_file_share_session(id=id, data={})) == {("at",): "ended"}
    assert await refusal(surface.expire_file_share_session(id=id, data={"at": at(8)})) == {("at",): "ended"}
    assert await facts_of(gateway, tenant) == facts
    assert (await surface.get_file_share_session(id=id))["download_count"] == 1


@pytest.mark.parametrize("name", ["record_download", "complete_file_share_session"])
async def test_an_unknown_session_is_not_found(surface, name):
    with pytest.raises(Refused, match="not_found") as refused:
        await surface.ask(name, {"id": UNKNOWN_ID, "data": {}})
    assert refused.value.status == 404


async def test_a_repeat_of_a_download_changes_nothing_even_if_it_differs(surface, gateway, tenant):
    one = await surface.create_file_share_session(data=FREE)
    active = await surface.record_download(id=one["id"], data={"at": at(5), "external_id": "d-1"})
    facts = await facts_of(gateway, tenant)
    for moment in (at(3), "2001-01-31T09:00:00Z"):
        repeat = await surface.record_download(id=one["id"], data={"at": moment, "external_id": "d-1"})
        assert repeat == active
    assert await facts_of(gateway, tenant) == facts


async def test_of_reports_with_one_external_id_at_once_one_is_taken(surface, gateway, tenant):
    sent = [FREE | {"external_id": "s-1", "file_size_bytes": size} for size in range(AT_ONCE)]
    sessions = await asyncio.gather(*(surface.create_file_share_session(data=data) for data in sent))
    assert len({session["id"] for session in sessions}) == 1
    assert (await counts_of(gateway, tenant)) == {("free_session", "31 09:00"): 1}

    others = [await surface.create_file_share_session(data=FREE) for _ in range(AT_ONCE)]
    download = {"at": at(5), "external_id": "d-1"}
    calls = [surface.record_download(id=session["id"], data=download) for session in others]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    refused = [answer.problems for answer in answers if isinstance(answer, Refused)]
    assert refused == [{("external_id",): "duplicate"}] * (AT_ONCE - 1)
    assert (await counts_of(gateway, tenant))["download", "31 09:05"] == 1


async def test_downloads_at_once_are_all_counted_and_activate_once(surface, gateway, tenant):
    session = await surface.create_file_share_session(data=FREE)
    calls = [
        surface.record_download(id=session["id"], data={"at": at(minute)}) for minute in range(AT_ONCE, 0, -1)
    ]
    await asyncio.gather(*calls)
    session = await surface.get_file_share_session(id=session["id"])
    assert (session["download_count"], session["first_download_at"]) == (AT_ONCE, at(1))
    counts = await counts_of(gateway, tenant)
    assert {key: n for key, n in counts.items() if key[0] == "activation"} == {("activation", "31 09:01"): 1}


async def test_of_two_ends_at_once_one_is_taken(surface, gateway, tenant):
    session = await surface.create_file_share_session(data=FREE)
    ends = [surface.complete_file_share_session, surface.expire_file_share_session] * 3
    done = await asyncio.gather(
        *(end(id=session["id"], data={"at": at(9)}) for end in ends), return_exceptions=True
    )
    assert [one.problems for one in done if isinstance(one, Refused)] == [{("at",): "ended"}] * 5
    ended = [n for (kind, _), n in (await counts_of(gateway, tenant)).items() if kind != "free_session"]
    assert ended == [1]


async def test_a_stale_condition_refuses_a_download(surface):
    session = await surface.create_file_share_session(data=FREE)
    await refused(
        surface.record_download(id=session["id"], data={}, if_match='"stale"'), 412, "precondition_failed"
    )
    done = await surface.record_download(id=session["id"], data={}, if_match="*")
    assert done["download_count"] == 1


async def test_a_retry_under_one_key_reports_one_download(surface):
    session = await surface.create_file_share_session(data=FREE)
    once = surface.with_headers(idempotency_key="once")
    first = await once.record_download(id=session["id"], data={})
    again = await once.ask("record_download", {"id": session["id"], "data": {}})
    assert (again.value, again.headers["idempotency-replayed"]) == (first, "true")
