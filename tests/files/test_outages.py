"""A store that is down, from outside: what is told meanwhile, and that everything goes on afterwards."""

import os
from contextlib import contextmanager
from uuid import uuid4

import pytest

from tests.support.callers.refusals import refused
from tests.support.servers.gateways import bearer, make_tenant, run_gateway
from tests.support.tenants.uploads import (
    PART,
    PNG,
    completion,
    new_file,
    put,
    put_parts,
    upload_file,
    upload_image,
)


@pytest.fixture
async def outage(request, store, tmp_path, database_url):
    """A gateway on a store of its own, and a context in which that store is down."""
    objects = tmp_path / "objects"

    @contextmanager
    def down():
        if store == "s3":
            server.stop()
        else:
            objects.rename(tmp_path / "elsewhere")
            objects.write_text("a file where the store's directory should be")
        try:
            yield
        finally:
            if store == "s3":
                server.start_again()
            else:
                objects.unlink()
                (tmp_path / "elsewhere").rename(objects)

    server = request.getfixturevalue("s3_server") if store == "s3" else None
    settings = server.settings(f"outage-{uuid4().hex}") if server else {}
    async for running in run_gateway(database_url, objects, **settings):
        yield running, down


@pytest.fixture
async def gateway(outage):
    return outage[0]


@pytest.fixture
def down(outage):
    return outage[1]


@pytest.fixture
async def tenant(gateway):
    return await make_tenant(gateway)


async def unavailable(call):
    return (await refused(call, 503, "unavailable")).detail


@pytest.mark.long
async def test_an_upload_goes_on_when_its_store_is_back(surface, tenant, down):
    content = os.urandom(PART + 1000)
    file = await surface.create_file(data=new_file(content))
    first, _ = file["upload"]["parts"]
    await put(surface.client, first, content[:PART])
    sent = [{"number": n, "checksum_etag": '"x"', "checksum_sha256_base64": None} for n in (1, 2)]
    with down():
        for call in (
            surface.get_file(id=file["id"]),
            surface.complete_file_upload(id=file["id"], data=completion(file, sent)),
            surface.create_file(data=new_file()),
        ):
            said = await unavailable(call)
            assert said.startswith("Files cannot be kept or read just now: ")
            assert "127.0.0.1" not in said
        answer = await surface.client.get(f"/api/files/{file['id']}", headers=bearer(tenant.token))
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert (await surface.list_files())["data"][0]["is_uploaded"] is False

    upload = (await surface.get_file(id=file["id"]))["upload"]
    assert [part["checksum_etag"] is not None for part in upload["parts"]] == [True, False]
    parts = await put_parts(surface, upload, content)
    await surface.complete_file_upload(id=file["id"], data=completion(file, parts))
    download = await surface.get_file_download(id=file["id"])
    assert (await surface.client.get(download["url"])).content == content


async def test_images_say_when_to_try_again(surface, down):
    image = await upload_image(surface)
    with down():
        answer = await surface.client.get(image["public_url"])
        kept = {"If-None-Match": image["checksum_etag"]}
        assert (await surface.client.get(image["public_url"], headers=kept)).status_code == 304
    assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
    assert answer.headers["retry-after"] == "5"
    assert "immutable" not in answer.headers.get("cache-control", "")
    assert (await surface.client.get(image["public_url"])).content == PNG


async def test_a_file_can_be_deleted_while_its_store_is_down(surface, down, gateway):
    file = await upload_file(surface)
    with down():
        assert await surface.delete_file(id=file["id"]) == file["id"]
    await refused(surface.get_file(id=file["id"]), 404, "not_found")
