"""Crashes, cancellations, races and large parts: what is stored, visible and held in memory."""

import asyncio
import os
import signal
import sys
import tracemalloc

import pytest

from storage.objects import assembly
from storage.objects.disk import on_disk, open_on_disk
from storage.objects.interface import ObjectMissing, StoreUnavailable, UploadUnknown
from storage.objects.part_files import IncomingPart, part_files
from storage.objects.signing import PartClaims
from tests.storage.uploads import (
    PATH,
    begin,
    content_of,
    files_below,
    parameters,
    put,
    reference,
    signed_part,
)
from tests.support.measures.patience import until


async def test_a_part_put_many_times_at_once_is_kept_once(store):
    upload_id = await begin(store)
    sent = await asyncio.gather(*(put(store, upload_id, 1, bytes([value]) * 100_000) for value in range(16)))
    (kept,) = await store.list_parts(upload_id, PATH)
    assert kept in sent
    await store.complete(upload_id, PATH, [reference(kept)])


@pytest.mark.parametrize("contents", [[b"only"], [b"first", b"second"]], ids=["one part", "two parts"])
async def test_completions_at_the_same_time_agree(store, contents):
    upload_id = await begin(store)
    parts = [await put(store, upload_id, number, content) for number, content in enumerate(contents, 1)]
    references = [reference(part) for part in parts]
    stored = await asyncio.gather(*(store.complete(upload_id, PATH, references) for _ in range(8)))
    assert len(set(stored)) == 1
    assert await content_of(store) == b"".join(contents)


async def test_an_aborted_upload_leaves_nothing_and_takes_no_more_parts(store, tmp_path):
    upload_id = await begin(store)
    part = await put(store, upload_id, 1, b"content")
    (await asyncio.to_thread(lambda: files_below(tmp_path)[0].parent / "incoming-killed")).write_bytes(
        b"half"
    )
    await store.abort(upload_id, PATH)
    await store.abort(upload_id, PATH)
    assert files_below(tmp_path) == []
    with pytest.raises(UploadUnknown):
        await put(store, upload_id, 2, b"too late")
    with pytest.raises(UploadUnknown):
        await store.complete(upload_id, PATH, [reference(part)])


async def test_a_part_still_arriving_when_the_upload_is_aborted_is_not_kept(store, tmp_path):
    upload_id = await begin(store)

    async def interrupted():
        yield bytes(2_000_000)
        await store.abort(upload_id, PATH)
        yield b"end"

    request = await signed_part(store, upload_id, 1, 2_000_003)
    claims = store.urls.verify_part(parameters(request), request.headers)
    with pytest.raises(UploadUnknown):
        await store.receive_part(claims, interrupted())
    assert files_below(tmp_path) == []


async def test_a_stream_that_fails_or_is_cancelled_leaves_nothing(store, tmp_path):
    upload_id = await begin(store)
    request = await signed_part(store, upload_id, 1, 5_000_000)
    claims = store.urls.verify_part(parameters(request), request.headers)
    arrived = asyncio.Event()

    async def broken():
        yield bytes(2_000_000)
        raise ConnectionResetError

    async def stalled():
        yield bytes(2_000_000)
        arrived.set()
        await asyncio.Event().wait()

    with pytest.raises(ConnectionResetError):
        await store.receive_part(claims, broken())
    receiving = asyncio.create_task(store.receive_part(claims, stalled()))
    await arrived.wait()
    receiving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await receiving
    assert files_below(tmp_path) == []


@pytest.mark.parametrize("begun", [False, True])
async def test_a_part_that_is_discarded_while_its_thread_goes_on_leaves_nothing(tmp_path, begun):
    part = IncomingPart(tmp_path, PartClaims("an upload", PATH, 1, 0, None))
    if begun:
        part.open()
    part.discard()
    part.open()
    part.write(bytearray(b"too late"))
    with pytest.raises(UploadUnknown):
        part.keep()
    assert files_below(tmp_path) == []


async def test_a_part_that_shrinks_while_it_is_copied_makes_no_object(store, tmp_path, monkeypatch):
    upload_id = await begin(store)
    parts = [await put(store, upload_id, number, b"content") for number in (1, 2)]

    def shrinking(upload):
        """What is on the disk changes only between this look-up and the copy."""
        found = part_files(upload)
        os.truncate(found[2].file, 3)
        return found

    monkeypatch.setattr(assembly, "part_files", shrinking)
    with pytest.raises(StoreUnavailable):
        await store.complete(upload_id, PATH, [reference(part) for part in parts])
    assert len(files_below(tmp_path / "uploads")) == len(files_below(tmp_path)) == 2


async def test_a_file_that_is_opened_for_a_caller_who_has_gone_is_closed(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = asyncio.create_task(open_on_disk(pipe, 0))
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    # Its thread opens the pipe together with this.
    writing = await asyncio.to_thread(os.open, pipe, os.O_WRONLY)

    async def has_no_reader():
        try:
            os.write(writing, b"x")
        except BrokenPipeError:
            return True
        return False

    await until(has_no_reader)
    os.close(writing)


async def test_a_file_that_cannot_be_opened_for_a_caller_who_has_gone_is_no_error(tmp_path):
    told, loop = [], asyncio.get_running_loop()
    before = asyncio.all_tasks()
    reading = asyncio.create_task(open_on_disk(tmp_path / "missing", 0))
    await asyncio.sleep(0)
    new = asyncio.all_tasks() - before
    (opening,) = [task for task in new if task.get_coro().__name__ == on_disk.__name__]
    reading.cancel()
    loop.set_exception_handler(lambda _, context: told.append(context.get("exception")))
    try:
        with pytest.raises(asyncio.CancelledError):
            await reading
        await asyncio.wait([opening])
        await asyncio.sleep(0)
    finally:
        loop.set_exception_handler(None)
    assert isinstance(opening.exception(), StoreUnavailable)
    assert opening.exception() not in told


async def test_a_part_of_64_mebibytes_passes_in_little_memory(store):
    size = 64 * 1024 * 1024
    chunk = bytes(64 * 1024)

    async def large():
        for _ in range(size // len(chunk)):
            yield chunk

    upload_id = await begin(store)
    request = await signed_part(store, upload_id, 1, size)
    claims = store.urls.verify_part(parameters(request), request.headers)
    tracemalloc.start()
    try:
        part = await store.receive_part(claims, large())
        await store.complete(upload_id, PATH, [reference(part)])
        read = 0
        async for piece in (await store.open_object(PATH)).read():
            read += len(piece)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert read == size
    assert peak < 8 * 1024 * 1024


KILLED = """
import asyncio, os, signal, sys
from datetime import timedelta
from pathlib import Path
from storage.objects.interface import PartReference
from storage.objects.local import LocalObjectStore
from storage.objects.signing import PartClaims

directory, upload_id, path, moment = sys.argv[1:]
store = LocalObjectStore(Path(directory), "http://gateway", b"secret")

def kill(): os.kill(os.getpid(), signal.SIGKILL)

async def arriving():
    yield bytes(3_000_000)
    kill()

def at_the_rename(event, arguments):
    if event == "os.rename" and "/objects/" in str(arguments[1]): kill()

async def main():
    if moment == "arriving":
        await store.receive_part(PartClaims(upload_id, path, 3, 5_000_000, None), arriving())
    sys.addaudithook(at_the_rename)
    parts = await store.list_parts(upload_id, path)
    await store.complete(upload_id, path, [PartReference(p.number, p.size, p.etag) for p in parts])

asyncio.run(main())
"""


@pytest.mark.parametrize("moment", ["arriving", "completing"])
async def test_a_process_killed_at_its_work_leaves_an_upload_that_goes_on(store, tmp_path, moment):
    upload_id = await begin(store)
    parts = [await put(store, upload_id, number, bytes([number]) * 1_000_000) for number in (1, 2)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, str(tmp_path), upload_id, PATH, moment
    )
    assert await process.wait() == -signal.SIGKILL
    assert len(files_below(tmp_path / "uploads")) == 3

    assert await store.list_parts(upload_id, PATH) == parts
    with pytest.raises(ObjectMissing):
        await store.open_object(PATH)
    await store.complete(upload_id, PATH, [reference(part) for part in parts])
    assert len(await content_of(store)) == 2_000_000
    assert files_below(tmp_path) == [tmp_path / "objects" / PATH]


async def test_an_object_is_seen_whole_or_not_at_all_while_it_is_completed(store):
    upload_id = await begin(store)
    parts = [await put(store, upload_id, number, bytes(8_000_000)) for number in (1, 2, 3)]
    completing = asyncio.create_task(store.complete(upload_id, PATH, [reference(part) for part in parts]))
    sizes = set()
    while not completing.done():
        try:
            sizes.add((await store.open_object(PATH)).size)
        except ObjectMissing:
            sizes.add(None)
    await completing
    assert sizes <= {None, 24_000_000}
