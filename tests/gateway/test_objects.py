"""Signed URLs of the local store, as clients and browsers use them."""

from datetime import timedelta

import pytest

from tests.support.callers.surfaces import Rest
from tests.support.servers.gateways import make_tenant, run_gateway
from tests.support.tenants.uploads import checksum, completion, new_file, put, put_parts, upload_file

CONTENT = b"0123456789"


async def signed_part(rest, content=CONTENT):
    file = await rest.create_file(data=new_file(content))
    return file["upload"]["parts"][0]


async def signed_download(rest, **values):
    file = await upload_file(rest, CONTENT, **values)
    return (await rest.get_file_download(id=file["id"]))["url"]


@pytest.mark.parametrize("name", ["path", "upload_id", "part_number", "size", "expires_at", "signature"])
async def test_an_altered_address_of_a_part_is_refused(rest, name):
    part = await signed_part(rest)
    answer = await rest.client.put(part["url"].replace(f"{name}=", f"{name}=1"), content=CONTENT)
    assert answer.status_code == 403
    detail = "The URL was not signed here, or was altered."
    assert answer.json() == {"error": "not_permitted", "detail": detail}


async def test_an_address_is_good_for_its_own_method_only(rest):
    part = await signed_part(rest)
    assert (await rest.client.get(part["url"])).status_code == 403
    assert (await rest.client.put(await signed_download(rest), content=CONTENT)).status_code == 403
    assert (await rest.client.post(part["url"], content=CONTENT)).status_code == 405
    assert (await rest.client.put("/objects", content=CONTENT)).status_code == 403


async def test_an_altered_or_expired_download_is_refused(rest, gateway):
    url = await signed_download(rest)
    altered = await rest.client.get(url.replace("disposition=attachment", "disposition=inline"))
    assert (altered.status_code, altered.json()["error"]) == (403, "not_permitted")
    expired = await gateway.app.state.services.objects.sign_download(
        "downloadable/a/b/c", "c", "text/plain", timedelta(seconds=-1), attachment=True
    )
    answer = await rest.client.get(expired.url)
    assert (answer.status_code, answer.json()["detail"]) == (403, "The URL has expired.")


async def test_a_part_that_announces_too_much_is_refused_unread(rest):
    part = await signed_part(rest)
    answer = await put(rest.client, part, CONTENT + b"more")
    assert (answer.status_code, answer.json()["error"]) == (413, "too_large")


async def test_a_part_of_another_size_is_refused(rest):
    async def streamed():
        yield CONTENT
        yield b"more"

    part = await signed_part(rest)
    for content in (b"short", streamed(), b""):
        answer = await rest.client.put(part["url"], content=content)
        assert (answer.status_code, answer.json()["error"]) == (422, "invalid")
        assert answer.json()["detail"][0]["type"] == "size"


async def test_a_part_that_declares_its_checksum_must_have_it(rest):
    data = new_file()
    data["upload"]["parts"][0]["checksum_sha256_base64"] = checksum(b"content")
    file = await rest.create_file(data=data)
    (declared,) = file["upload"]["parts"]
    assert declared["headers"] == {"x-amz-checksum-sha256": checksum(b"content")}

    other = await put(rest.client, declared, b"another")
    assert (other.status_code, other.json()["error"]) == (422, "invalid")
    assert other.json()["detail"][0]["type"] == "checksum"
    unsaid = await rest.client.put(declared["url"], content=b"content")
    assert (unsaid.status_code, unsaid.json()["error"]) == (403, "not_permitted")
    sent = await put_parts(rest, file["upload"], b"content")
    assert (await rest.complete_file_upload(id=file["id"], data=completion(file, sent)))["is_uploaded"]


async def test_an_only_part_must_have_the_files_checksum(rest):
    file = await rest.create_file(data=new_file(checksum_sha256_base64=checksum(b"content")))
    assert (await put(rest.client, file["upload"]["parts"][0], b"another")).status_code == 422


async def test_an_upload_with_an_expired_address_gets_a_new_one(rest, gateway):
    file = await rest.create_file(data=new_file())
    expired = await gateway.app.state.services.objects.sign_part(
        file["upload"]["id"],
        file["path"],
        1,
        7,
        checksum_sha256_base64=None,
        expires_in=timedelta(seconds=-1),
    )
    answer = await rest.client.put(expired.url, content=b"content")
    assert (answer.status_code, answer.json()) == (
        403,
        {"error": "not_permitted", "detail": "The URL has expired."},
    )
    fresh = (await rest.get_file(id=file["id"]))["upload"]
    await put_parts(rest, fresh, b"content")


async def test_urls_of_ended_uploads_and_deleted_files_say_that_they_ended(rest):
    file = await upload_file(rest, CONTENT)
    url = (await rest.get_file_download(id=file["id"]))["url"]
    unfinished = await rest.create_file(data=new_file(CONTENT))
    for id in (file["id"], unfinished["id"]):
        await rest.delete_file(id=id)
    late = await put(rest.client, unfinished["upload"]["parts"][0], CONTENT)
    assert (late.status_code, late.json()["error"]) == (404, "not_found")
    gone = await rest.client.get(url)
    assert (gone.status_code, gone.json()["error"]) == (404, "not_found")


async def test_a_part_needs_no_credential_and_answers_with_its_etag(rest):
    answer = await put(rest.client, await signed_part(rest), CONTENT)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["etag"] == '"781e5e245d69b566979b86e28d23f2c7"'
    assert answer.headers["x-request-id"]


async def test_a_download_can_be_resumed_and_looked_at(rest):
    url = await signed_download(rest, mime_type="text/html")
    resumed = await rest.client.get(url, headers={"Range": "bytes=7-"})
    assert (resumed.status_code, resumed.content) == (206, b"789")
    assert resumed.headers["content-range"] == "bytes 7-9/10"
    looked = await rest.client.head(url)
    assert (looked.status_code, looked.content) == (200, b"")
    assert looked.headers["content-length"] == "10"
    beyond = await rest.client.get(url, headers={"Range": "bytes=10-"})
    assert beyond.status_code == 416
    assert looked.headers["content-type"] == "text/html"
    assert looked.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in looked.headers["content-security-policy"]


async def test_a_browser_may_use_signed_addresses_from_any_page(rest):
    part = await signed_part(rest)
    asked = {"Origin": "https://shop.example", "Access-Control-Request-Method": "PUT"}
    preflight = await rest.client.options(part["url"], headers=asked)
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert "PUT" in preflight.headers["access-control-allow-methods"]
    assert "x-amz-checksum-sha256" in preflight.headers["access-control-allow-headers"]

    refused = await rest.client.put(part["url"] + "x", content=CONTENT, headers=asked)
    for answer in (refused, await put(rest.client, part, CONTENT)):
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "ETag" in answer.headers["access-control-expose-headers"]
        assert "access-control-allow-credentials" not in answer.headers
    elsewhere = await rest.client.get("/health", headers=asked)
    assert "access-control-allow-origin" not in elsewhere.headers


async def test_addresses_that_are_not_good_cost_calls_and_good_ones_do_not(database_url, tmp_path):
    async for running in run_gateway(database_url, tmp_path / "objects", rate_limit=3):
        tenant = await make_tenant(running)
        rest = Rest(running.client, running.app, tenant.token)
        file = await rest.create_file(data=new_file(CONTENT))
        for _ in range(5):
            await put_parts(rest, file["upload"], CONTENT)
        bad = [await running.client.put("/objects?signature=x", content=CONTENT) for _ in range(4)]
        assert [answer.status_code for answer in bad] == [403, 403, 403, 429]
        assert int(bad[-1].headers["retry-after"]) > 0
