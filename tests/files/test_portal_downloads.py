"""A customer downloads the files of its own sessions: over both surfaces, from both object stores."""

from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from tests.support.callers.refusals import refusal, refused
from tests.support.callers.surfaces import Refused
from tests.support.measures.spans import span
from tests.support.tenants.file_shares import START, at, counts_of
from tests.support.tenants.uploads import upload_file, upload_image

FREE = [{"amount_type": "free"}]
PRICE = {"price_amount": 1500, "price_currency": "eur"}
PAID = {"amount": 1500, "currency": "eur"}
CONTENT = b"sixty birds of the coast"


async def enter(surface, customer, **values):
    session = await surface.create_customer_session(data={"customer_id": customer["id"], **values})
    return surface.with_token(session["token"])


@pytest.fixture
async def customer(surface):
    return await surface.create_customer(data={"email": f"ada-{uuid4().hex}@example.com"})


@pytest.fixture
async def portal(surface, customer):
    return await enter(surface, customer)


@pytest.fixture
async def file(surface):
    return await upload_file(surface, CONTENT, name="birds.pdf", mime_type="application/pdf")


@pytest.fixture
async def share(surface, file):
    data = {"name": "Field guide", "prices": FREE, "downloads": [file["id"]], "description": "All birds."}
    return await surface.create_share(data=data)


async def sell(surface, share, customer, **values):
    data = {"share_id": share["id"], "customer_id": customer["id"], "file_size_bytes": len(CONTENT)}
    return await surface.create_file_share_session(data={**data, **values})


def opening(portal, session, file):
    return portal.download_portal_file(id=session["id"], data={"file_id": file["id"]})


async def test_a_session_shows_what_its_share_shows_and_its_files(surface, portal, customer, file):
    media = await upload_image(surface)
    data = {"name": "Guide", "prices": FREE, "downloads": [file["id"]], "medias": [media["id"]]}
    share = await surface.create_share(data={**data, "visibility": "private", "description": "All birds."})
    session = await sell(surface, share, customer)
    await surface.delete_share(id=share["id"])
    seen = await portal.get_portal_file_share_session(id=session["id"])
    assert (seen["share_name"], seen["share_description"]) == ("Guide", "All birds.")
    assert seen["share_medias"] == [media]
    assert seen["can_download"] is True
    assert seen["files"] == [
        {name: file[name] for name in ("id", "name", "mime_type", "size", "size_readable")}
    ]
    assert (await portal.list_portal_file_share_sessions())["data"] == [seen]


async def test_an_opened_file_is_downloaded_and_counted_once(surface, portal, customer, share, file):
    session = await sell(surface, share, customer, **PRICE)
    await surface.record_payment(id=session["id"], data=PAID)
    opened = await opening(portal, session, file)

    whole = await surface.client.get(opened["url"], headers=opened["headers"])
    assert (whole.status_code, whole.content) == (200, CONTENT)
    assert "birds.pdf" in whole.headers["content-disposition"]
    resumed = await surface.client.get(opened["url"], headers={**opened["headers"], "Range": "bytes=6-"})
    assert (resumed.status_code, resumed.content) == (206, CONTENT[6:])

    (download,) = (await surface.list_file_share_downloads())["data"]
    assert (download["file_share_session_id"], download["share_id"], download["customer_id"]) == (
        session["id"],
        share["id"],
        customer["id"],
    )
    seen = await portal.get_portal_file_share_session(id=session["id"])
    assert (seen["status"], seen["download_count"]) == ("active", 1)
    assert [each["at"] for each in seen["downloads"]] == [download["at"]]
    day = download["at"][:10]
    metrics = await surface.get_metrics(start_date=day, end_date=day, interval="day")
    assert metrics["totals"]["file_share_downloads"] == 1


async def test_every_opening_is_a_download_but_a_retry_is_not(surface, portal, customer, share, file):
    session = await sell(surface, share, customer)
    once = portal.with_headers(idempotency_key=uuid4().hex)
    first = await opening(once, session, file)
    assert await opening(once, session, file) == first
    await opening(portal, session, file)
    assert (await surface.get_file_share_session(id=session["id"]))["download_count"] == 2


async def test_a_link_lasts_ten_minutes_and_is_for_one_file(surface, store, portal, customer, share, file):
    session = await sell(surface, share, customer)
    other = await upload_file(surface, b"a secret", name="secret.pdf")
    with span() as asking:
        opened = await opening(portal, session, file)
    assert datetime.fromisoformat(opened["expires_at"]) in asking.in_whole_seconds + timedelta(minutes=10)
    if store == "s3":
        return  # The tests' server of S3's protocol does not check signatures.
    altered = opened["url"].replace(file["id"], other["id"]).replace("birds.pdf", "secret.pdf")
    assert altered != opened["url"]
    assert (await surface.client.get(altered, headers=opened["headers"])).status_code == 403


async def test_files_open_once_the_session_is_paid_until_it_is_refunded(
    surface, portal, customer, share, file
):
    session = await sell(surface, share, customer, **PRICE)
    assert (await portal.get_portal_file_share_session(id=session["id"]))["can_download"] is False
    await refused(opening(portal, session, file), 403, "not_permitted")

    payment = await surface.record_payment(id=session["id"], data=PAID)
    await opening(portal, session, file)
    assert (await portal.get_portal_file_share_session(id=session["id"]))["can_download"] is True

    await surface.refund_payment(id=payment["id"], data={"amount": 500})
    with pytest.raises(Refused, match="refunds"):
        await opening(portal, session, file)
    seen = await portal.get_portal_file_share_session(id=session["id"])
    assert (seen["can_download"], seen["download_count"]) == (False, 1)
    await surface.record_payment(id=session["id"], data=PAID | {"amount": 500})
    await opening(portal, session, file)


async def test_a_completed_session_stays_open_and_an_expired_one_does_not(
    surface, portal, customer, share, file
):
    completed, expired = [await sell(surface, share, customer) for _ in range(2)]
    await surface.complete_file_share_session(id=completed["id"], data={})
    await opening(portal, completed, file)
    seen = await surface.get_file_share_session(id=completed["id"])
    assert (seen["status"], seen["download_count"]) == ("completed", 1)

    await surface.expire_file_share_session(id=expired["id"], data={})
    assert (await portal.get_portal_file_share_session(id=expired["id"]))["can_download"] is False
    await refused(opening(portal, expired, file), 403, "not_permitted")
    assert (await surface.get_file_share_session(id=expired["id"]))["download_count"] == 0


async def test_a_download_after_the_end_makes_no_session_active(
    surface, gateway, tenant, portal, customer, share, file
):
    session = await sell(surface, share, customer, created_at=START)
    await surface.complete_file_share_session(id=session["id"], data={"at": at(9)})
    await opening(portal, session, file)
    counts = await counts_of(gateway, tenant)
    assert {kind: many for (kind, _), many in counts.items()} == {
        "free_session": 1,
        "completion": 1,
        "download": 1,
    }
    # A late report of a download before the end tells when the session was active.
    await surface.record_download(id=session["id"], data={"at": at(5)})
    counts = await counts_of(gateway, tenant)
    assert (counts["activation", "31 09:05"], counts["deactivation", "31 09:09"]) == (1, 1)
    assert sum(many for (kind, _), many in counts.items() if kind == "activation") == 1


async def test_only_files_that_the_share_lists_now_open(surface, portal, customer, share, file):
    session = await sell(surface, share, customer)
    unlisted, added = await upload_file(surface), await upload_file(surface)
    for other in (unlisted, {"id": str(uuid4())}):
        assert await refusal(opening(portal, session, other)) == {("file_id",): "not_found"}
    await surface.update_share(id=share["id"], data={"downloads": [added["id"], file["id"]]})
    await opening(portal, session, added)
    await surface.delete_file(id=file["id"])
    assert await refusal(opening(portal, session, file)) == {("file_id",): "not_found"}
    await surface.delete_share(id=share["id"])
    await opening(portal, session, added)


async def test_a_session_without_a_share_has_no_files(surface, portal, customer, file):
    data = {"customer_id": customer["id"], "file_size_bytes": 7}
    session = await surface.create_file_share_session(data=data)
    seen = await portal.get_portal_file_share_session(id=session["id"])
    assert (seen["share_name"], seen["files"], seen["share_medias"]) == (None, [], [])
    assert await refusal(opening(portal, session, file)) == {("file_id",): "not_found"}


async def test_a_customer_opens_no_session_of_others(surface, customer, share, file):
    stranger = await surface.create_customer(data={"email": f"bo-{uuid4().hex}@example.com"})
    session = await sell(surface, share, customer)
    portal = await enter(surface, stranger)
    await refused(opening(portal, session, file), 404, "not_found")
    nobodys = await surface.create_file_share_session(data={"share_id": share["id"], "file_size_bytes": 7})
    await refused(opening(portal, nobodys, file), 404, "not_found")
    assert (await surface.list_file_share_downloads())["data"] == []


async def test_every_member_of_a_team_opens_the_teams_files(surface, tenant, share, file):
    settings = {"feature_settings": {"member_model_enabled": True}}
    await surface.update_workspace(id=tenant.id, data=settings)
    team = await surface.create_customer(data={"email": f"t-{uuid4().hex}@example.com", "type": "team"})
    bo = await surface.create_member(
        data={"customer_id": team["id"], "email": f"bo-{uuid4().hex}@example.com"}
    )
    session = await sell(surface, share, team)
    portal = await enter(surface, team, member_id=bo["id"])
    opened = await opening(portal, session, file)
    assert (await surface.client.get(opened["url"])).content == CONTENT
