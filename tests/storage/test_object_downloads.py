"""Reading and deleting objects: headers, ranges, and paths that try to leave the directory."""

import pytest

from storage.objects.disk import resolve_below
from storage.objects.downloads import answer_download
from storage.objects.interface import ObjectMissing, PartReference, PathRefused, StoreUnavailable
from storage.objects.s3 import S3Content
from storage.objects.s3_connection import Bucket, S3Connection
from tests.storage.uploads import HOUR, PATH, begin, content_of, files_below, parameters, store_in, uploaded


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


async def test_s3_is_not_asked_for_what_an_empty_object_contains():
    nobody = S3Connection(Bucket("bucket", "http://127.0.0.1:1"))
    content = S3Content(PATH, 0, '"etag"', nobody, "bucket")
    assert [chunk async for chunk in content.read()] == []


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


async def download(store, headers=None, *, name='été "1".zip', mime_type="application/zip", attachment=True):
    """Answer a GET of a signed download as the gateway's route does."""
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


async def test_a_store_that_cannot_write_says_so_without_naming_its_directory(tmp_path):
    await store_in(tmp_path).check()
    (tmp_path / "file").write_bytes(b"")
    broken = store_in(tmp_path / "file")
    with pytest.raises(StoreUnavailable) as unavailable:
        await broken.check()
    assert str(tmp_path) not in str(unavailable.value)
    with pytest.raises(StoreUnavailable):
        await begin(broken)
