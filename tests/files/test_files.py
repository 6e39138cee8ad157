"""Files, from outside: made, read, listed, downloaded and deleted, on both surfaces and both databases."""

import asyncio
from hashlib import sha256
from uuid import uuid4

import pytest

from tests.support.callers.refusals import refusal, refused
from tests.support.callers.surfaces import Refused
from tests.support.tenants.uploads import (
    PNG,
    checksum,
    completion,
    new_file,
    put_parts,
    upload_file,
    upload_image,
)

FREE = {"amount_type": "free"}


async def test_a_new_file_has_an_upload_with_an_address_for_each_part(surface, tenant, store):
    file = await surface.create_file(data=new_file(b"content", name="summer mix.zip", version="2"))

    assert file["workspace_id"] == tenant.id
    assert file["path"] == f"downloadable/{tenant.id}/{file['id']}/summer mix.zip"
    assert (file["name"], file["mime_type"], file["size"]) == ("summer mix.zip", "application/zip", 7)
    assert (file["service"], file["version"], file["is_uploaded"]) == ("downloadable", "2", False)
    assert file["size_readable"] == "7 B"
    assert file["checksum_etag"] is file["last_modified_at"] is file["checksum_sha256_base64"] is None
    assert "public_url" not in file
    assert file["upload"]["path"] == file["path"]
    (part,) = file["upload"]["parts"]
    assert part["url"].startswith({"local": "http://gateway/objects?", "s3": "http://127.0.0.1:"}[store])
    assert (part["number"], part["chunk_start"], part["chunk_end"]) == (1, 0, 7)
    assert part["headers"] == {}
    assert part["expires_at"] > file["created_at"]
    assert part["checksum_etag"] is None


async def test_a_finished_file_has_its_checksums_and_no_upload(surface):
    file = await upload_file(surface, b"content", checksum_sha256_base64=checksum(b"content"))

    assert file["is_uploaded"] is True
    assert file["checksum_etag"].endswith('-1"')
    assert file["checksum_sha256_base64"] == checksum(b"content")
    assert file["checksum_sha256_hex"] == sha256(b"content").hexdigest()
    assert file["last_modified_at"] >= file["created_at"]
    assert "upload" not in file
    assert await surface.get_file(id=file["id"]) == file


async def test_a_download_gives_the_bytes_to_be_saved_under_their_name(surface):
    file = await upload_file(surface, b"content", name="Ünïcode mix.zip")
    download = await surface.get_file_download(id=file["id"])

    answer = await surface.client.get(download["url"], headers=download["headers"])
    assert (answer.status_code, answer.content) == (200, b"content")
    assert answer.headers["content-type"] == "application/zip"
    disposition = answer.headers["content-disposition"]
    assert disposition.startswith("attachment;")
    assert "filename*=UTF-8''%C3%9Cn%C3%AFcode%20mix.zip" in disposition


async def test_an_unfinished_file_cannot_be_downloaded(surface):
    file = await surface.create_file(data=new_file())
    assert await refusal(surface.get_file_download(id=file["id"])) == {("id",): "upload"}


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("../../etc/passwd", "etcpasswd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("/absolute\r\nSet-Cookie: x", "absoluteSet-Cookie: x"),
        ("..", "file"),
    ],
)
async def test_a_name_cannot_leave_its_place(surface, tenant, sent, kept):
    file = await upload_file(surface, name=sent)
    assert file["name"] == kept
    assert file["path"] == f"downloadable/{tenant.id}/{file['id']}/{kept}"
    download = await surface.get_file_download(id=file["id"])
    assert (await surface.client.get(download["url"])).content == b"content"


async def test_every_problem_of_a_new_file_is_named_at_its_place(surface):
    fields = {
        "service": "product_media",
        "mime_type": "image/png",
        "name": "",
        "size": 0,
        "checksum_sha256_base64": checksum(b"")[:-4],
        "colour": "red",
        "upload": {"parts": []},
    }
    assert await refusal(surface.create_file(data=fields)) == {
        ("name",): "string_too_short",
        ("size",): "greater_than_equal",
        ("checksum_sha256_base64",): "checksum",
        ("colour",): "extra_forbidden",
        ("upload", "parts"): "too_short",
    }
    for mime_type in ("text", "text/plain\r\nX: y", "text/plain; charset=utf-8", "text/плейн"):
        assert await refusal(surface.create_file(data=new_file(mime_type=mime_type))) == {
            ("mime_type",): "string_pattern_mismatch"
        }


@pytest.mark.parametrize(
    ("service", "limit"),
    [("downloadable", 5 * 1024**3), ("product_media", 10 * 1024**2), ("workspace_avatar", 1024**2)],
)
async def test_each_service_has_its_own_size_limit(surface, service, limit):
    def declared(size):
        parts = [{"number": 1, "chunk_start": 0, "chunk_end": size}]
        return new_file(service=service, mime_type="image/png", size=size, upload={"parts": parts})

    await surface.create_file(data=declared(limit))
    with pytest.raises(Refused, match=f"at most {limit} bytes") as refused:
        await surface.create_file(data=declared(limit + 1))
    assert refused.value.problems[("size",)] == "less_than_equal"


@pytest.mark.parametrize("service", ["product_media", "workspace_avatar"])
async def test_what_everybody_sees_is_an_image(surface, service):
    assert await refusal(surface.create_file(data=new_file(service=service, mime_type="text/html"))) == {
        ("mime_type",): "mime_type"
    }


async def test_lists_hold_files_of_every_kind_and_filter_and_sort_them(surface, tenant):
    archive = await upload_file(surface, b"a" * 300, name="Beta archive.zip")
    cover = await upload_image(surface, name="alpha cover.png")
    avatar = await upload_image(surface, service="workspace_avatar", name="Gamma.png", version="1")
    draft = await surface.create_file(data=new_file(b"b" * 50, name="delta draft.zip"))
    unfinished = {key: value for key, value in draft.items() if key != "upload"}

    async def listed(**filters):
        return [file["id"] for file in (await surface.list_files(**filters))["data"]]

    page = await surface.list_files()
    assert page["data"] == [unfinished, avatar, cover, archive]
    assert page["meta"]["total"] == page["pagination"]["total_count"] == 4
    assert await listed(ids=[archive["id"], cover["id"], str(uuid4())]) == [cover["id"], archive["id"]]
    assert await listed(service="product_media") == [cover["id"]]
    assert await listed(name="AR", workspace_id=[tenant.id]) == [archive["id"]]
    by_name = [cover["id"], archive["id"], draft["id"], avatar["id"]]
    assert await listed(sorting=["name"]) == by_name
    by_size = [archive["id"], cover["id"], avatar["id"], draft["id"]]
    assert await listed(sorting=["-size", "name"]) == by_size
    first = await surface.list_files(sorting=["name"], limit=3)
    cursor = first["meta"]["next_cursor"]
    assert await listed(sorting=["name"], limit=3, after=cursor) == by_name[3:]


async def test_another_workspaces_file_does_not_exist(surface, other_tenant):
    file = await surface.create_file(data=new_file())
    other = surface.with_token(other_tenant.token)
    parts = await put_parts(surface, file["upload"], b"content")
    for attempt in (other.get_file, other.get_file_download, other.delete_file):
        await refused(attempt(id=file["id"]), 404, "not_found")
    await refused(other.complete_file_upload(id=file["id"], data=completion(file, parts)), 404, "not_found")
    assert (await other.list_files())["data"] == []
    assert (await other.list_files(ids=[file["id"]]))["data"] == []
    await refused(other.create_file(data=new_file(workspace_id=file["workspace_id"])), 404, "not_found")


async def test_a_deleted_file_is_gone_with_its_content(surface):
    file = await upload_image(surface)
    download = await surface.get_file_download(id=file["id"])
    assert await surface.delete_file(id=file["id"]) == file["id"]

    for attempt in (surface.get_file, surface.delete_file):
        await refused(attempt(id=file["id"]), 404, "not_found")
    assert (await surface.client.get(download["url"])).is_error
    assert (await surface.client.get(file["public_url"])).status_code == 404


async def test_the_parts_of_a_deleted_upload_are_dropped(surface, gateway):
    file = await surface.create_file(data=new_file())
    await put_parts(surface, file["upload"], b"content")
    await surface.delete_file(id=file["id"])
    (part,) = file["upload"]["parts"]
    assert (await surface.client.put(part["url"], content=b"content")).is_error


async def test_a_deleted_picture_is_no_longer_its_workspaces(surface, tenant):
    kept, dropped = [await upload_image(surface, service="workspace_avatar") for _ in range(2)]
    workspace = {"id": tenant.id, "data": {"avatar_url": dropped["public_url"]}}
    assert (await surface.update_workspace(**workspace))["avatar_url"] == dropped["public_url"]
    await surface.delete_file(id=kept["id"])
    assert (await surface.get_workspace(id=tenant.id))["avatar_url"] == dropped["public_url"]
    await surface.delete_file(id=dropped["id"])
    assert (await surface.get_workspace(id=tenant.id))["avatar_url"] is None


async def test_deleting_a_file_takes_it_off_its_shares(surface):
    kept, dropped = await upload_image(surface), await upload_image(surface)
    medias = [dropped["id"], kept["id"]]
    share = await surface.create_share(data={"name": "Album", "prices": [FREE], "medias": medias})
    other = await surface.create_share(data={"name": "Single", "prices": [FREE]})

    await surface.delete_file(id=dropped["id"])
    left = await surface.get_share(id=share["id"])
    assert left["medias"] == [kept]
    assert left["modified_at"] is not None
    assert await surface.get_share(id=other["id"]) == other


async def test_files_can_be_deleted_while_their_shares_change(surface):
    images = [await upload_image(surface) for _ in range(4)]
    medias = [image["id"] for image in images]
    data = {"name": "Album", "prices": [FREE], "medias": medias}
    shares = [await surface.create_share(data=data) for _ in range(2)]
    changes = [surface.update_share(id=share["id"], data={"medias": medias}) for share in shares]
    deletions = [surface.delete_file(id=id) for id in medias[:3]]
    results = await asyncio.gather(*changes, *deletions, return_exceptions=True)

    assert results[2:] == medias[:3]
    for result in results[:2]:
        assert isinstance(result, dict) or set(result.problems.values()) == {"media"}
    for share in shares:
        assert (await surface.get_share(id=share["id"]))["medias"] == [images[3]]


async def test_only_uploaded_images_of_the_same_workspace_can_be_medias(surface, other_tenant):
    image = await upload_image(surface)
    refused_files = [
        await surface.create_file(data=new_file(PNG, service="product_media", mime_type="image/png")),
        await upload_file(surface),
        await upload_image(surface, service="workspace_avatar"),
        await upload_image(surface.with_token(other_tenant.token)),
    ]
    medias = [image["id"], *(file["id"] for file in refused_files), str(uuid4())]
    assert await refusal(
        surface.create_share(data={"name": "Album", "prices": [FREE], "medias": medias})
    ) == {("medias", index): "media" for index in range(1, 6)}

    share = await surface.create_share(data={"name": "Album", "prices": [FREE], "medias": [image["id"]]})
    assert share["medias"] == [image]


async def test_a_retry_under_the_same_key_makes_no_second_file(surface):
    once = surface.with_headers(idempotency_key=uuid4().hex)
    first = await once.create_file(data=new_file())
    again = await once.ask("create_file", {"data": new_file()})
    assert again.headers["idempotency-replayed"] == "true"
    assert again.value["id"] == first["id"]
    assert again.value["upload"]["id"] == first["upload"]["id"]
    assert (await surface.list_files())["meta"]["total"] == 1


async def test_the_etag_of_a_file_does_not_change_with_its_signed_addresses(gateway, tenant, caller):
    surface = caller(tenant.token)
    file = await surface.create_file(data=new_file())
    headers = {"Authorization": f"Bearer {tenant.token}"}
    read = [await gateway.client.get(f"/api/files/{file['id']}", headers=headers)]
    parts = await put_parts(surface, file["upload"], b"content")
    read.append(await gateway.client.get(f"/api/files/{file['id']}", headers=headers))
    assert read[0].json() != read[1].json()
    assert read[0].headers["etag"] == read[1].headers["etag"]

    done = completion(file, parts)
    await refused(
        surface.complete_file_upload(id=file["id"], data=done, if_match='"stale"'), 412, "precondition_failed"
    )
    await surface.complete_file_upload(id=file["id"], data=done, if_match=read[0].headers["etag"])
