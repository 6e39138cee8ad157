"""The object store on a real directory: uploads in parts, signed URLs, downloads, and what a kill leaves."""

import asyncio
import os
import signal
import sys
import tracemalloc
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from hashlib import md5, sha256
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from storage.objects.disk import resolve_below
from storage.objects.downloads import answer_download
from storage.objects.interface import (
    ObjectMissing,
    ObjectStore,
    PartFault,
    PartReference,
    PartsRefused,
    PathRefused,
    StoreUnavailable,
    UploadUnknown,
    UrlRefused,
)
from storage.objects.local import LocalObjectStore
from storage.objects.signing import SignedUrls

PATH = "downloadable/0f8fad5b/7c9e6679/summer mix & more?.zip"
HOUR = timedelta(hours=1)


def store_in(directory) -> LocalObjectStore:
    return LocalObjectStore(directory, "http://gateway/api/contents", b"secret")


@pytest.fixture
def store(tmp_path):
    return store_in(tmp_path)


def checksum(content: bytes) -> str:
    return b64encode(sha256(content).digest()).decode()


def parameters(request) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(request.url).query, strict_parsing=True))


async def streamed(content: bytes, step: int = 64 * 1024):
    for start in range(0, len(content), step):
        yield content[start : start + step]


async def signed_part(store, upload_id, number, size, declared=None, expires_in=HOUR):
    return await store.sign_part(
        upload_id, PATH, number, size, checksum_sha256_base64=declared, expires_in=expires_in
    )


async def put(store, upload_id, number, content, *, size=None, declared=None):
    """Do what the gateway's route does with a PUT of a signed part."""
    request = await signed_part(store, upload_id, number, len(content) if size is None else size, declared)
    claims = store.urls.verify_part(parameters(request), request.headers)
    return await store.receive_part(claims, streamed(content))


def reference(part, **changes):
    values = {
        "number": part.number,
        "size": part.size,
        "etag": part.etag,
        "checksum_sha256_base64": part.checksum_sha256_base64,
    }
    return PartReference(**{**values, **changes})


async def begin(store, path=PATH):
    return await store.begin(path, "application/zip", checksums=False)


async def uploaded(store, *contents, path=PATH):
    upload_id = await store.begin(path, "application/zip", checksums=False)
    parts = []
    for number, content in enumerate(contents, 1):
        request = await store.sign_part(
            upload_id, path, number, len(content), checksum_sha256_base64=None, expires_in=HOUR
        )
        claims = store.urls.verify_part(parameters(request), request.headers)
        parts.append(await store.receive_part(claims, streamed(content)))
    return await store.complete(upload_id, path, [reference(part) for part in parts])


async def content_of(store, path=PATH) -> bytes:
    opened = await store.open_object(path)
    return b"".join([chunk async for chunk in opened.read()])


def files_below(directory) -> list:
    return [file for file in directory.rglob("*") if file.is_file()]


def test_the_local_store_is_an_object_store(store):
    promised: ObjectStore = store
    missing = [name for name in vars(ObjectStore) if not name.startswith("_") and not hasattr(promised, name)]
    assert missing == []


async def test_parts_become_one_object_in_the_order_of_their_numbers(store, tmp_path):
    upload_id = await begin(store)
    contents = [os.urandom(3_000_000), os.urandom(1_000_001), b"end"]
    parts = {number: await put(store, upload_id, number, contents[number - 1]) for number in (3, 1, 2)}

    stored = await store.complete(upload_id, PATH, [reference(part) for part in parts.values()])

    digests = b"".join(md5(content).digest() for content in contents)
    assert stored.size == 4_000_004
    assert stored.etag == f'"{md5(digests).hexdigest()}-3"'
    assert stored.checksum_sha256_base64 is None
    assert stored.version is None
    assert await content_of(store) == b"".join(contents)
    assert files_below(tmp_path) == [tmp_path / "objects" / PATH]


async def test_an_object_of_one_part_has_the_checksum_of_that_part(store):
    stored = await uploaded(store, b"single")
    assert stored.checksum_sha256_base64 == checksum(b"single")
    assert stored.etag == f'"{md5(md5(b"single").digest()).hexdigest()}-1"'
    assert await content_of(store) == b"single"


async def test_a_part_answers_with_its_etag_in_quotes_and_its_checksum(store):
    part = await put(store, await begin(store), 7, b"content", declared=checksum(b"content"))
    assert (part.number, part.size) == (7, 7)
    assert part.etag == f'"{md5(b"content").hexdigest()}"'
    assert part.checksum_sha256_base64 == checksum(b"content")


async def test_an_upload_goes_on_with_a_new_store_on_the_same_directory(store, tmp_path):
    upload_id = await begin(store)
    first = await put(store, upload_id, 1, b"before the restart, ")

    restarted = store_in(tmp_path)
    assert await restarted.list_parts(upload_id, PATH) == [first]
    second = await put(restarted, upload_id, 2, b"after it")
    await restarted.complete(upload_id, PATH, [reference(first), reference(second)])
    assert await content_of(restarted) == b"before the restart, after it"


async def test_a_part_that_is_put_again_replaces_the_earlier_one(store):
    upload_id = await begin(store)
    earlier = await put(store, upload_id, 1, b"earlier")
    later = await put(store, upload_id, 1, b"later")
    assert await store.list_parts(upload_id, PATH) == [later]
    with pytest.raises(PartsRefused):
        await store.complete(upload_id, PATH, [reference(earlier)])
    await store.complete(upload_id, PATH, [reference(later)])
    assert await content_of(store) == b"later"


async def test_a_part_put_many_times_at_once_is_kept_once(store):
    upload_id = await begin(store)
    sent = await asyncio.gather(*(put(store, upload_id, 1, bytes([value]) * 100_000) for value in range(16)))
    (kept,) = await store.list_parts(upload_id, PATH)
    assert kept in sent
    await store.complete(upload_id, PATH, [reference(kept)])


@pytest.mark.parametrize("content", [b"1234", b"123456", b""], ids=["shorter", "longer", "empty"])
async def test_a_part_of_another_size_is_refused_and_not_kept(store, tmp_path, content):
    upload_id = await begin(store)
    with pytest.raises(PartsRefused, match=r"part 2 has .*5.* declared") as refused:
        await put(store, upload_id, 2, content, size=5)
    assert [(problem.number, problem.fault) for problem in refused.value.problems] == [(2, PartFault.size)]
    assert await store.list_parts(upload_id, PATH) == []
    assert files_below(tmp_path) == []


async def test_a_part_that_is_too_long_is_refused_before_it_is_read_to_its_end(store):
    taken = 0

    async def endless():
        nonlocal taken
        while True:
            taken += 65536
            yield bytes(65536)

    upload_id = await begin(store)
    request = await signed_part(store, upload_id, 1, 100_000)
    claims = store.urls.verify_part(parameters(request), request.headers)
    with pytest.raises(PartsRefused, match="more than the 100000 bytes"):
        await store.receive_part(claims, endless())
    assert taken < 4 * 1024 * 1024


async def test_a_part_with_another_checksum_is_refused_and_the_earlier_one_stays(store):
    upload_id = await begin(store)
    good = await put(store, upload_id, 1, b"right", declared=checksum(b"right"))
    with pytest.raises(PartsRefused) as refused:
        await put(store, upload_id, 1, b"wrong", declared=checksum(b"right"))
    assert refused.value.problems[0].fault is PartFault.checksum
    assert await store.list_parts(upload_id, PATH) == [good]


async def test_a_completion_names_every_part_at_fault_and_can_be_repaired(store):
    upload_id = await begin(store)
    parts = [await put(store, upload_id, number, bytes([number]) * 10) for number in (1, 2, 3, 5, 6)]
    good = {part.number: reference(part) for part in parts}
    asked = [
        reference(parts[0], etag=f'"{md5(b"other").hexdigest()}"'),
        reference(parts[1], checksum_sha256_base64=checksum(b"other")),
        reference(parts[2], size=11),
        PartReference(4, 10, '"never sent"'),
        good[5],
        good[6],
        good[6],
    ]
    with pytest.raises(PartsRefused) as refused:
        await store.complete(upload_id, PATH, asked)
    assert [(problem.number, problem.fault) for problem in refused.value.problems] == [
        (1, PartFault.etag),
        (2, PartFault.checksum),
        (3, PartFault.size),
        (4, PartFault.missing),
        (6, PartFault.repeated),
    ]
    with pytest.raises(ObjectMissing):
        await store.open_object(PATH)

    fourth = await put(store, upload_id, 4, bytes([4]) * 10)
    await store.complete(upload_id, PATH, [*good.values(), reference(fourth)])
    assert await content_of(store) == b"".join(bytes([number]) * 10 for number in range(1, 7))


async def test_a_completion_without_parts_is_refused(store):
    upload_id = await begin(store)
    with pytest.raises(PartsRefused, match="at least part 1"):
        await store.complete(upload_id, PATH, [])


async def test_an_etag_is_the_same_with_and_without_quotes_and_a_checksum_may_be_left_out(store):
    upload_id = await begin(store)
    part = await put(store, upload_id, 1, b"content")
    bare = reference(part, etag=part.etag.strip('"'), checksum_sha256_base64=None)
    assert (await store.complete(upload_id, PATH, [bare])).size == 7


@pytest.mark.parametrize("contents", [[b"only"], [b"first", b"second"]], ids=["one part", "two parts"])
async def test_a_completion_that_is_repeated_gives_the_same_object(store, contents):
    upload_id = await begin(store)
    parts = [await put(store, upload_id, number, content) for number, content in enumerate(contents, 1)]
    references = [reference(part) for part in parts]
    stored = await store.complete(upload_id, PATH, references)
    assert await store.complete(upload_id, PATH, references) == stored
    for other in ([*references, PartReference(9, 1, '"x"')], [reference(parts[0], etag='"x"')]):
        with pytest.raises(UploadUnknown):
            await store.complete(upload_id, PATH, other)


@pytest.mark.parametrize("contents", [[b"only"], [b"first", b"second"]], ids=["one part", "two parts"])
async def test_completions_at_the_same_time_agree(store, contents):
    upload_id = await begin(store)
    parts = [await put(store, upload_id, number, content) for number, content in enumerate(contents, 1)]
    references = [reference(part) for part in parts]
    stored = await asyncio.gather(*(store.complete(upload_id, PATH, references) for _ in range(8)))
    assert len(set(stored)) == 1
    assert await content_of(store) == b"".join(contents)


async def test_an_upload_is_known_only_with_its_own_id_and_path(store):
    upload_id = await begin(store)
    part = await put(store, upload_id, 1, b"content")
    for other_id, other_path in (
        (upload_id, PATH + "x"),
        (upload_id + "x", PATH),
        ("", PATH),
        ("../..", PATH),
    ):
        with pytest.raises(UploadUnknown):
            await store.list_parts(other_id, other_path)
        with pytest.raises(UploadUnknown):
            await store.complete(other_id, other_path, [reference(part)])
        await store.abort(other_id, other_path)
    assert await store.list_parts(upload_id, PATH) == [part]


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


async def test_a_deleted_object_is_missing_and_can_be_deleted_again(store, tmp_path):
    await uploaded(store, b"content")
    await store.delete(PATH)
    await store.delete(PATH)
    with pytest.raises(ObjectMissing):
        await store.open_object(PATH)
    assert files_below(tmp_path) == []


async def test_a_directory_is_no_object(store):
    await uploaded(store, b"content")
    await store.delete("downloadable/0f8fad5b")
    with pytest.raises(ObjectMissing):
        await store.open_object("downloadable/0f8fad5b")
    with pytest.raises(ObjectMissing):
        await store.open_object(PATH + "/below")
    assert await content_of(store) == b"content"


CLIMBING = [
    "../outside",
    "a/../../outside",
    "/etc/passwd",
    "a//b",
    "a/./b",
    "a/..",
    "",
    "a/",
    "a\\..\\b",
    "a\0b",
    "a/" + "x" * 256,
    "\ud800",
]


@pytest.mark.parametrize("path", CLIMBING)
async def test_no_path_leads_out_of_the_directory(store, tmp_path, path):
    (tmp_path / "outside").write_bytes(b"private")
    with pytest.raises(PathRefused):
        await begin(store, path)
    with pytest.raises(PathRefused):
        await store.open_object(path)
    with pytest.raises(PathRefused):
        await store.delete(path)
    with pytest.raises(PathRefused):
        await store.complete("any", path, [PartReference(1, 1, '"x"')])
    with pytest.raises(PathRefused):
        await store.sign_download(path, "name", "text/plain", HOUR, attachment=True)
    assert files_below(tmp_path) == [tmp_path / "outside"]


def test_a_path_of_the_api_stays_below_the_directory(tmp_path):
    assert resolve_below(tmp_path, PATH).is_relative_to(tmp_path)


async def test_a_signed_part_says_when_it_expires_and_which_headers_to_send(store):
    declared = checksum(b"content")
    request = await signed_part(store, "id", 1, 7, declared)
    assert request.url.startswith("http://gateway/api/contents?")
    assert request.headers == {"x-amz-checksum-sha256": declared}
    assert abs(request.expires_at - (datetime.now(UTC) + HOUR)) < timedelta(seconds=5)
    assert (await signed_part(store, "id", 1, 7)).headers == {}


async def test_an_expired_url_is_told_from_an_altered_one(store):
    request = await signed_part(store, "id", 1, 7, expires_in=timedelta(0))
    with pytest.raises(UrlRefused) as expired:
        store.urls.verify_part(parameters(request), {})
    assert expired.value.expired
    with pytest.raises(UrlRefused) as altered:
        store.urls.verify_part({**parameters(request), "expires_at": "99999999999"}, {})
    assert not altered.value.expired


@pytest.mark.parametrize(
    "change",
    [
        {"path": "downloadable/other"},
        {"upload_id": "other"},
        {"part_number": "2"},
        {"size": "8"},
        {"checksum_sha256": checksum(b"other")},
        {"expires_at": "99999999999"},
        {"signature": "é\ud800"},
        {"signature": ""},
        {"unsigned": "1"},
        {"path": "\ud800"},
    ],
    ids=lambda change: next(iter(change)),
)
async def test_an_altered_url_is_refused(store, change):
    request = await signed_part(store, "id", 1, 7, checksum(b"content"))
    altered = {**parameters(request), **change}
    headers = {"x-amz-checksum-sha256": altered["checksum_sha256"]}
    with pytest.raises(UrlRefused) as refused:
        store.urls.verify_part(altered, headers)
    assert not refused.value.expired


@pytest.mark.parametrize("name", ["path", "upload_id", "size", "checksum_sha256", "expires_at", "signature"])
async def test_a_url_that_lost_a_parameter_is_refused(store, name):
    request = await signed_part(store, "id", 1, 7, checksum(b"content"))
    remaining = {key: value for key, value in parameters(request).items() if key != name}
    with pytest.raises(UrlRefused):
        store.urls.verify_part(remaining, request.headers)


async def test_a_url_is_good_only_for_its_method_and_its_secret(store):
    put_request = await signed_part(store, "id", 1, 7)
    get_request = await store.sign_download(PATH, "a.zip", "application/zip", HOUR, attachment=True)
    with pytest.raises(UrlRefused):
        store.urls.verify_download(parameters(put_request))
    with pytest.raises(UrlRefused):
        store.urls.verify_part(parameters(get_request), {})
    with pytest.raises(UrlRefused):
        SignedUrls("http://gateway/api/contents", b"other").verify_download(parameters(get_request))


@pytest.mark.parametrize("headers", [{}, {"x-amz-checksum-sha256": checksum(b"other")}])
async def test_a_declared_checksum_must_be_sent_as_a_header(store, headers):
    request = await signed_part(store, "id", 1, 7, checksum(b"content"))
    with pytest.raises(UrlRefused, match="x-amz-checksum-sha256"):
        store.urls.verify_part(parameters(request), headers)


async def download(store, headers=None, *, name='été "1".zip', mime_type="application/zip", attachment=True):
    """Do what the gateway's route does with a GET of a signed download."""
    request = await store.sign_download(PATH, name, mime_type, HOUR, attachment=attachment)
    claims = store.urls.verify_download(parameters(request))
    answer = answer_download(await store.open_object(claims.path), claims, headers or {})
    return answer, b"".join([chunk async for chunk in answer.chunks])


async def test_a_download_has_the_stored_type_and_the_file_name(store):
    await uploaded(store, b"0123456789")
    answer, body = await download(store)
    assert (answer.status, body) == (200, b"0123456789")
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["content-length"] == "10"
    assert answer.headers["content-disposition"] == (
        "attachment; filename=\"_t_ _1_.zip\"; filename*=UTF-8''%C3%A9t%C3%A9%20%221%22.zip"
    )


async def test_what_is_shown_in_the_browser_can_run_nothing(store):
    await uploaded(store, b"<svg onload='alert(1)'/>")
    answer, _ = await download(store, mime_type="image/svg+xml", attachment=False)
    assert answer.headers["content-disposition"].startswith("inline; ")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("wanted", "status", "body", "content_range"),
    [
        ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
        ("bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("bytes=7-99", 206, b"789", "bytes 7-9/10"),
        ("bytes=-3", 206, b"789", "bytes 7-9/10"),
        ("bytes=-99", 206, b"0123456789", "bytes 0-9/10"),
        ("bytes=10-", 416, b"", "bytes */10"),
        ("bytes=-0", 416, b"", "bytes */10"),
        ("bytes=4-2", 200, b"0123456789", None),
        ("bytes=0-1,3-4", 200, b"0123456789", None),
        ("bytes=-", 200, b"0123456789", None),
        ("lines=1-2", 200, b"0123456789", None),
    ],
)
async def test_a_range_of_a_download_is_given(store, wanted, status, body, content_range):
    await uploaded(store, b"0123456789")
    answer, received = await download(store, {"range": wanted})
    assert (answer.status, received) == (status, body)
    assert answer.headers.get("content-range") == content_range
    assert answer.headers["content-length"] == str(len(body))


async def test_a_download_resumes_only_if_the_object_is_still_the_same(store):
    await uploaded(store, b"0123456789")
    etag = (await download(store))[0].headers["etag"]
    assert (await download(store, {"range": "bytes=5-", "if-range": etag}))[1] == b"56789"
    assert (await download(store, {"range": "bytes=5-", "if-range": '"other"'}))[1] == b"0123456789"


async def test_an_upload_and_a_download_pass_through_http(store):
    async def take_part(request):
        claims = store.urls.verify_part(request.query_params, request.headers)
        part = await store.receive_part(claims, request.stream())
        return Response(headers={"etag": part.etag})

    async def give_object(request):
        claims = store.urls.verify_download(request.query_params)
        answer = answer_download(await store.open_object(claims.path), claims, request.headers)
        return StreamingResponse(answer.chunks, answer.status, answer.headers)

    routes = [Route("/api/contents", take_part, methods=["PUT"]), Route("/api/contents", give_object)]
    content = os.urandom(300_000)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(Starlette(routes=routes))) as client:
        upload_id = await begin(store)
        sent = await signed_part(store, upload_id, 1, len(content), checksum(content))
        put_answer = await client.put(sent.url, headers=sent.headers, content=content)
        part = PartReference(1, len(content), put_answer.headers["etag"])
        await store.complete(upload_id, PATH, [part])
        name = "a&b=c #1 100%+ü.zip"
        signed = await store.sign_download(PATH, name, "application/zip", HOUR, attachment=True)
        whole = await client.get(signed.url, headers=signed.headers)
        end = await client.get(signed.url, headers={"Range": "bytes=-1000"})
    assert whole.content == content
    assert (end.status_code, end.content) == (206, content[-1000:])


async def test_parts_are_joined_where_the_kernel_cannot_copy_files(store, monkeypatch):
    # The call is there on every Linux that runs the tests, and is not on other systems.
    monkeypatch.delattr(os, "copy_file_range")
    contents = [os.urandom(1_500_000), b"", os.urandom(2_000_001)]
    await uploaded(store, *contents)
    assert await content_of(store) == b"".join(contents)


async def test_a_name_passes_through_the_url_unchanged(store):
    name = "a&b=c #1 100%+ü\u200d😀.zip"
    request = await store.sign_download(PATH, name, "application/zip", HOUR, attachment=False)
    assert parse_qs(urlsplit(request.url).query)["file_name"] == [name]
    claims = store.urls.verify_download(parameters(request))
    assert (claims.path, claims.file_name, claims.attachment) == (PATH, name, False)


async def test_a_store_that_cannot_write_says_so_without_naming_its_directory(tmp_path):
    await store_in(tmp_path).check()
    (tmp_path / "file").write_bytes(b"")
    broken = store_in(tmp_path / "file")
    with pytest.raises(StoreUnavailable) as unavailable:
        await broken.check()
    assert str(tmp_path) not in str(unavailable.value)
    with pytest.raises(StoreUnavailable):
        await begin(broken)
