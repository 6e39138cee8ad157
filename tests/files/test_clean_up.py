"""What is dropped when nobody needs it any more, and that nothing waits for a store inside a transaction."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest
from sqlalchemy import func, select, update

from resolvers.files.clean_up import drop_abandoned_uploads, drop_lost_uploads, remove_discarded_content
from resolvers.operations import runner
from storage.clock import now
from storage.objects.interface import ObjectMissing, UploadUnknown
from storage.rows.rows import table_of
from storage.tables.shares.files import DiscardedObjectRow, FileRow
from tests.support.callers.refusals import refused
from tests.support.tenants.uploads import completion, new_file, put_parts, upload_file

WEEK = timedelta(days=7)


@pytest.fixture
def services(gateway):
    return gateway.app.state.services


async def age(gateway, file, days):
    files = table_of(FileRow)
    past = {"created_at": now() - timedelta(days=days)}
    async with gateway.database.write() as connection:
        await connection.execute(update(files).where(files.c.path == file["path"]).values(past))


async def remembered(gateway, file):
    discarded = table_of(DiscardedObjectRow)
    wanted = select(func.count()).select_from(discarded).where(discarded.c.path == file["path"])
    async with gateway.database.read() as connection:
        return (await connection.execute(wanted)).scalar_one()


async def remove_all_discarded(services):
    """Rows of other tests may come first. Each round that says there is more has removed a hundred."""
    settled = now() + timedelta(seconds=1)
    while await remove_discarded_content(services, settled):
        pass


async def test_an_upload_that_is_not_completed_in_time_is_dropped(rest, gateway, services):
    old, young, done = [await rest.create_file(data=new_file()) for _ in range(3)]
    for file in (old, young, done):
        sent = await put_parts(rest, file["upload"], b"content")
    await rest.complete_file_upload(id=done["id"], data=completion(done, sent))
    for file, days in ((old, 8), (young, 6), (done, 8)):
        await age(gateway, file, days)
    await asyncio.gather(*(drop_abandoned_uploads(services, WEEK) for _ in range(3)))

    await refused(rest.get_file(id=old["id"]), 404, "not_found")
    assert (await rest.get_file(id=young["id"]))["upload"]["parts"][0]["checksum_etag"] is not None
    assert (await rest.get_file(id=done["id"]))["is_uploaded"] is True
    await remove_all_discarded(services)
    with pytest.raises(UploadUnknown):
        await services.objects.list_parts(old["upload"]["id"], old["path"])


async def test_content_that_comes_after_its_files_deletion_is_removed_later(rest, gateway, services):
    file = await upload_file(rest)
    await rest.delete_file(id=file["id"])
    with pytest.raises(ObjectMissing):
        await services.objects.open_object(file["path"])
    assert await remembered(gateway, file) == 1

    again = await services.objects.begin(file["path"], "text/plain", checksums=False)
    await asyncio.gather(*(remove_all_discarded(services) for _ in range(2)))
    assert await remembered(gateway, file) == 0
    await services.objects.abort(again, file["path"])


async def test_an_upload_that_no_file_remembers_is_dropped_and_others_are_not(rest, services):
    path = f"downloadable/{uuid4()}/{uuid4()}/lost.bin"
    lost = await services.objects.begin(path, "text/plain", checksums=False)
    file = await rest.create_file(data=new_file())
    await drop_lost_uploads(services, timedelta(days=-1))
    with pytest.raises(UploadUnknown):
        await services.objects.list_parts(lost, path)
    assert (await rest.get_file(id=file["id"]))["upload"]["parts"][0]["url"]


async def test_a_refused_file_leaves_no_upload(rest, services, monkeypatch):
    aborted = []
    abort = services.objects.abort

    async def noting(upload_id, path):
        aborted.append(path)
        await abort(upload_id, path)

    monkeypatch.setattr(services.objects, "abort", noting)
    key = rest.with_headers(idempotency_key=uuid4().hex)
    file = await key.create_file(data=new_file())
    assert (await key.create_file(data=new_file()))["id"] == file["id"]
    await refused(key.create_file(data=new_file(name="other.zip")), 409, "idempotency_conflict")
    assert (await rest.list_files())["meta"]["total"] == 1
    assert aborted == []
    assert (await rest.get_file(id=file["id"]))["upload"]["parts"][0]["url"]


async def test_a_retry_that_begins_before_the_first_request_has_ended_leaves_no_upload(
    rest, services, monkeypatch
):
    key = rest.with_headers(idempotency_key=uuid4().hex)
    file = await key.create_file(data=new_file())
    begun, aborted = [], []
    begin, abort = services.objects.begin, services.objects.abort

    async def noting_begin(path, *arguments, **others):
        begun.append((await begin(path, *arguments, **others), path))
        return begun[-1][0]

    async def noting_abort(*upload):
        aborted.append(upload)
        await abort(*upload)

    async def is_no_retry_yet(*_):
        return False

    monkeypatch.setattr(services.objects, "begin", noting_begin)
    monkeypatch.setattr(services.objects, "abort", noting_abort)
    # It looks before the first request commits, which no request can time.
    monkeypatch.setattr(runner, "_is_retry", is_no_retry_yet)
    assert (await key.create_file(data=new_file()))["id"] == file["id"]
    assert len(begun) == 1
    assert aborted == begun
    assert (await rest.get_file(id=file["id"]))["upload"]["parts"][0]["url"]


@pytest.mark.parametrize("method", ["begin", "list_parts", "complete"])
async def test_others_can_write_while_a_store_takes_its_time(rest, services, monkeypatch, method):
    file = await rest.create_file(data=new_file())
    data = completion(file, await put_parts(rest, file["upload"], b"content"))
    reached, released = asyncio.Event(), asyncio.Event()
    work = getattr(services.objects, method)

    async def slow(*arguments, **named):
        reached.set()
        await released.wait()
        return await work(*arguments, **named)

    monkeypatch.setattr(services.objects, method, slow)
    calls = {
        "begin": rest.create_file(data=new_file()),
        "list_parts": rest.get_file(id=file["id"]),
        "complete": rest.complete_file_upload(id=file["id"], data=data),
    }
    waiting = asyncio.create_task(calls.pop(method))
    for unused in calls.values():
        unused.close()
    await reached.wait()
    await rest.create_customer(data={"email": f"{uuid4().hex}@example.com"})
    released.set()
    assert (await waiting)["id"]
