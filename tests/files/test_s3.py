"""Requests to S3 as callers get them: checked by AWS's own code, their signature covers everything."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, quote, urlsplit
from uuid import uuid4

import pytest
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from storage.objects.interface import OpenUpload, PathRefused, StoreUnavailable, UploadUnknown
from storage.objects.s3 import S3ObjectStore
from storage.objects.s3_connection import Bucket
from tests.support.measures.spans import span
from tests.support.servers.s3_server import KEYS
from tests.support.tenants.uploads import checksum

HOUR = timedelta(hours=1)
PATH = "downloadable/0f8fad5b/7c9e6679/Ünïcode mix & more+1?.zip"
CREDENTIALS = Credentials(KEYS["aws_access_key_id"], KEYS["aws_secret_access_key"])


@pytest.fixture
async def bucket(s3_server):
    settings = s3_server.settings(f"bucket-{uuid4().hex}")
    return Bucket(
        settings["object_store"].removeprefix("s3://"),
        s3_server.url,
        region="eu-central-1",
        access_key_id=CREDENTIALS.access_key,
        secret_access_key=CREDENTIALS.secret_key,
    )


@pytest.fixture
async def objects(bucket):
    store = S3ObjectStore(bucket)
    yield store
    await store.close()


def signature(method, url, headers):
    """What S3 itself would compute for this request, from what it receives."""
    address = urlsplit(url)
    sent = dict(parse_qsl(address.query, strict_parsing=True))
    sent.pop("X-Amz-Signature")
    region = sent["X-Amz-Credential"].split("/")[2]
    auth = S3SigV4QueryAuth(CREDENTIALS, "s3", region)
    query = "&".join(f"{name}={quote(value, safe='-_.~')}" for name, value in sent.items())
    signed = {name.lower(): value for name, value in ({"host": address.netloc} | headers).items()}
    received = AWSRequest(
        method,
        f"{address.scheme}://{address.netloc}{address.path}?{query}",
        headers={name: signed.get(name, "") for name in sent["X-Amz-SignedHeaders"].split(";")},
    )
    received.context["timestamp"] = sent["X-Amz-Date"]
    return auth.signature(auth.string_to_sign(received, auth.canonical_request(received)), received)


def given(url):
    return dict(parse_qsl(urlsplit(url).query))["X-Amz-Signature"]


async def signed_part(objects, declared=None, expires_in=HOUR):
    upload_id = await objects.begin(PATH, "application/zip", checksums=declared is not None)
    return await objects.sign_part(
        upload_id, PATH, 2, 7, checksum_sha256_base64=declared, expires_in=expires_in
    )


async def test_a_parts_signature_holds_its_size_and_its_checksum(objects):
    declared = checksum(b"content")
    request = await signed_part(objects, declared)
    query = dict(parse_qsl(urlsplit(request.url).query))
    assert request.headers == {"x-amz-checksum-sha256": declared}
    assert query["X-Amz-SignedHeaders"] == "content-length;host;x-amz-checksum-sha256"
    assert query["X-Amz-Algorithm"] == "AWS4-HMAC-SHA256"
    assert query["X-Amz-Credential"].endswith("/eu-central-1/s3/aws4_request")

    right = {"Content-Length": "7", **request.headers}
    assert signature("PUT", request.url, right) == given(request.url)
    for wrong in (
        right | {"Content-Length": "6"},
        right | {"Content-Length": "8"},
        right | {"x-amz-checksum-sha256": checksum(b"another")},
        {"Content-Length": "7"},
    ):
        assert signature("PUT", request.url, wrong) != given(request.url)


async def test_a_part_without_a_checksum_is_signed_for_its_size(objects):
    request = await signed_part(objects)
    assert request.headers == {}
    assert signature("PUT", request.url, {"Content-Length": "7"}) == given(request.url)
    assert signature("PUT", request.url, {"Content-Length": "8"}) != given(request.url)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("partNumber=2", "partNumber=3"),
        ("uploadId=", "uploadId=x"),
        ("7c9e6679", "7c9e6670"),
        ("X-Amz-Expires=3600", "X-Amz-Expires=36000"),
        ("%2Feu-central-1%2F", "%2Feu-central-2%2F"),
    ],
)
async def test_an_altered_address_has_another_signature(objects, old, new):
    request = await signed_part(objects)
    assert old in request.url
    altered = request.url.replace(old, new)
    assert signature("PUT", altered, {"Content-Length": "7"}) != given(request.url)


async def test_an_address_is_for_one_method_and_says_when_it_ends(objects):
    with span() as signing:
        request = await signed_part(objects, expires_in=timedelta(minutes=5))
    query = dict(parse_qsl(urlsplit(request.url).query))
    begun = datetime.strptime(query["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    assert begun in signing.in_whole_seconds
    assert query["X-Amz-Expires"] == "300"
    assert request.expires_at in signing.in_whole_seconds + timedelta(minutes=5)
    assert signature("GET", request.url, {"Content-Length": "7"}) != given(request.url)


async def test_a_download_is_signed_with_the_name_and_the_type_of_its_answer(objects):
    request = await objects.sign_download(PATH, 'a "mix".svg', "image/svg+xml", HOUR, attachment=True)
    query = dict(parse_qsl(urlsplit(request.url).query))
    assert query["response-content-type"] == "image/svg+xml"
    assert query["response-content-disposition"].startswith("attachment; ")
    assert signature("GET", request.url, {}) == given(request.url)
    altered = request.url.replace("attachment", "inline")
    assert signature("GET", altered, {}) != given(request.url)


async def test_callers_are_sent_to_their_own_way_to_the_bucket(bucket):
    store = S3ObjectStore(replace(bucket, public_endpoint="https://files.example.com"))
    request = await signed_part(store)
    assert request.url.startswith(f"https://files.example.com/{bucket.name}/downloadable/")
    assert signature("PUT", request.url, {"Content-Length": "7"}) == given(request.url)
    await store.close()


async def test_aws_itself_needs_no_endpoint(bucket):
    store = S3ObjectStore(replace(bucket, endpoint=None))
    request = await store.sign_download(PATH, "mix.zip", "application/zip", HOUR, attachment=True)
    assert urlsplit(request.url).netloc == f"{bucket.name}.s3.eu-central-1.amazonaws.com"
    assert signature("GET", request.url, {}) == given(request.url)
    await store.close()


@pytest.mark.parametrize(
    "path", ["", "/absolute", "a//b", "../up", "a/../b", "a/.", "a\\b", "a\0b", "x" * 256]
)
async def test_a_path_that_a_disk_would_refuse_is_refused(objects, path):
    for attempt in (
        objects.begin(path, "text/plain", checksums=False),
        objects.delete(path),
        objects.open_object(path),
        objects.sign_download(path, "x", "text/plain", HOUR, attachment=True),
    ):
        with pytest.raises(PathRefused):
            await attempt


async def test_an_upload_id_of_another_store_is_unknown(objects):
    for id in ("", "sha256.", "a-local-id", "sha256.never-begun"):
        with pytest.raises(UploadUnknown):
            await objects.list_parts(id, PATH)
        await objects.abort(id, PATH)


async def test_a_missing_bucket_is_reported_by_its_code_alone(bucket):
    store = S3ObjectStore(replace(bucket, name="no-such-bucket"))
    with pytest.raises(StoreUnavailable, match=r"^the object store refused: NoSuchBucket$"):
        await store.check()
    await store.close()


async def test_a_check_leaves_nothing_in_the_bucket(objects):
    await objects.check()
    assert await objects.drop_uploads(datetime.now(UTC) + timedelta(hours=1), frozenset()) == 0


async def test_unknown_uploads_are_dropped_by_their_age_and_others_are_kept(objects):
    known, lost = [await objects.begin(PATH, "application/zip", checksums=each) for each in (True, False)]
    earlier, later = [datetime.now(UTC) + timedelta(hours=hours) for hours in (-1, 1)]
    assert await objects.drop_uploads(earlier, {OpenUpload(known, PATH)}) == 0
    assert (
        await objects.drop_uploads(later, {OpenUpload(known, PATH), OpenUpload("of-the-local-store", "x")})
        == 1
    )
    assert await objects.list_parts(known, PATH) == []
    with pytest.raises(UploadUnknown):
        await objects.list_parts(lost, PATH)


async def test_keys_are_not_shown_with_the_bucket(bucket):
    assert CREDENTIALS.secret_key not in repr(bucket)
