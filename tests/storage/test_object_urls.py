"""Signed URLs of parts and downloads permit what was signed and nothing else."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from storage.objects.interface import UrlRefused
from storage.objects.signing import SignedUrls
from tests.storage.uploads import HOUR, PATH, checksum, parameters, signed_part
from tests.support.measures.spans import span


async def test_a_signed_part_says_when_it_expires_and_which_headers_to_send(store):
    declared = checksum(b"content")
    with span() as signing:
        request = await signed_part(store, "id", 1, 7, declared)
    assert request.url.startswith("http://gateway/api/contents?")
    assert request.headers == {"x-amz-checksum-sha256": declared}
    # The address names whole seconds.
    assert (signing.begin + HOUR).replace(microsecond=0) <= request.expires_at <= signing.end + HOUR
    assert (await signed_part(store, "id", 1, 7)).headers == {}


async def test_an_expired_url_gets_another_answer_than_an_altered_one(store):
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


async def test_a_name_passes_through_the_url_unchanged(store):
    name = "a&b=c #1 100%+ü\u200d😀.zip"
    request = await store.sign_download(PATH, name, "application/zip", HOUR, attachment=False)
    assert parse_qs(urlsplit(request.url).query)["file_name"] == [name]
    claims = store.urls.verify_download(parameters(request))
    assert (claims.path, claims.file_name, claims.attachment) == (PATH, name, False)
