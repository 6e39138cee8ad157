"""The files that a share's customers download, from outside."""

import asyncio
from uuid import uuid4

from tests.support.callers.refusals import refusal, refused
from tests.support.tenants.uploads import new_file, upload_file, upload_image

FREE = {"amount_type": "free"}


def share_with(*files, **values):
    return {"name": "Album", "prices": [FREE], "downloads": [file["id"] for file in files], **values}


async def test_a_share_has_its_downloads_in_the_order_of_the_list(surface):
    first, second = await upload_file(surface, name="one.zip"), await upload_file(surface, name="two.zip")
    share = await surface.create_share(data=share_with(second, first))
    assert share["downloads"] == [second, first]
    assert share["medias"] == []

    turned = await surface.update_share(id=share["id"], data={"downloads": [first["id"], second["id"]]})
    assert turned["downloads"] == [first, second]
    assert turned["modified_at"] is not None
    assert await surface.get_share(id=share["id"]) == turned
    assert (await surface.list_shares())["data"] == [turned]


async def test_a_share_without_downloads_has_none(surface):
    share = await surface.create_share(data={"name": "Album", "prices": [FREE]})
    assert share["downloads"] == []


async def test_downloads_left_out_stay_and_null_empties_them(surface):
    share = await surface.create_share(data=share_with(await upload_file(surface)))
    renamed = await surface.update_share(id=share["id"], data={"name": "Single"})
    assert renamed["downloads"] == share["downloads"]
    emptied = await surface.update_share(id=share["id"], data={"downloads": None})
    assert emptied["downloads"] == []


async def test_only_uploaded_downloadable_files_of_the_same_workspace_are_downloads(surface, other_tenant):
    file = await upload_file(surface)
    refused_files = [
        await surface.create_file(data=new_file()),
        await upload_image(surface),
        await upload_image(surface, service="workspace_avatar"),
        await upload_file(surface.with_token(other_tenant.token)),
        {"id": str(uuid4())},
    ]
    assert await refusal(surface.create_share(data=share_with(file, *refused_files))) == {
        ("downloads", index): "download" for index in range(1, 6)
    }
    assert (await surface.list_shares())["data"] == []


async def test_the_same_download_twice_is_refused_at_the_list(surface):
    file = await upload_file(surface)
    assert await refusal(surface.create_share(data=share_with(file, file))) == {("downloads",): "value_error"}
    share = await surface.create_share(data=share_with(file))
    changing = surface.update_share(id=share["id"], data={"downloads": [file["id"]] * 2})
    assert await refusal(changing) == {("downloads",): "value_error"}


async def test_the_etag_of_a_share_follows_its_downloads(rest):
    share = await rest.create_share(data=share_with(await upload_file(rest)))
    before = (await rest.ask("get_share", {"id": share["id"]})).headers["etag"]
    await rest.update_share(id=share["id"], data={"downloads": []}, if_match=before)
    after = (await rest.ask("get_share", {"id": share["id"]})).headers["etag"]
    assert after != before
    await refused(
        rest.update_share(id=share["id"], data={"downloads": []}, if_match=before), 412, "precondition_failed"
    )


async def test_deleting_a_file_takes_it_off_the_downloads_of_its_shares(surface):
    kept, dropped = await upload_file(surface), await upload_file(surface)
    share = await surface.create_share(data=share_with(dropped, kept))
    other = await surface.create_share(data=share_with(kept))

    await surface.delete_file(id=dropped["id"])
    left = await surface.get_share(id=share["id"])
    assert left["downloads"] == [kept]
    assert left["modified_at"] is not None
    assert await surface.get_share(id=other["id"]) == other


async def test_files_can_be_deleted_while_shares_that_list_them_change(surface):
    files = [await upload_file(surface) for _ in range(3)]
    data = share_with(*files)
    shares = [await surface.create_share(data=data) for _ in range(2)]
    changes = [
        surface.update_share(id=share["id"], data={"downloads": data["downloads"][::-1]}) for share in shares
    ]
    deletions = [surface.delete_file(id=file["id"]) for file in files[:2]]
    results = await asyncio.gather(*changes, *deletions, return_exceptions=True)

    assert results[2:] == data["downloads"][:2]
    for result in results[:2]:
        assert isinstance(result, dict) or set(result.problems.values()) == {"download"}
    for share in shares:
        assert (await surface.get_share(id=share["id"]))["downloads"] == [files[2]]


async def test_an_archived_share_keeps_its_downloads(surface):
    share = await surface.create_share(data=share_with(await upload_file(surface)))
    await surface.delete_share(id=share["id"])
    archived = await surface.get_share(id=share["id"])
    assert (archived["is_archived"], archived["downloads"]) == (True, share["downloads"])


async def test_the_portal_shows_no_downloads_with_a_share(surface, caller):
    share = await surface.create_share(data=share_with(await upload_file(surface)))
    customer = await surface.create_customer(data={"email": "ada@example.com"})
    session = await surface.create_customer_session(data={"customer_id": customer["id"]})
    shown = await caller(session["token"]).get_portal_share(id=share["id"])
    assert "downloads" not in shown
