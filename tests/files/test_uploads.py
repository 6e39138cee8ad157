"""Uploads in parts, from outside: their plan, their arrival, their completion and what can go wrong."""

import asyncio
import os

import pytest

from resolvers.files.uploads import SIGNED_AT_A_TIME
from storage.objects.interface import ObjectMissing, PartReference
from tests.support.callers.refusals import refusal
from tests.support.callers.surfaces import Refused
from tests.support.tenants.uploads import (
    MIB,
    PART,
    PNG,
    checksum,
    completion,
    new_file,
    put,
    put_parts,
    upload_image,
    with_checksums,
)


def part(number, start, end, **values):
    return {"number": number, "chunk_start": start, "chunk_end": end, **values}


async def test_three_parts_become_one_file_in_whatever_order_they_arrive(surface):
    content = os.urandom(2 * PART + 1000)
    file = await surface.create_file(data=new_file(content, checksum_sha256_base64=checksum(content)))
    parts = file["upload"]["parts"]
    upload = file["upload"] | {"parts": [parts[2], parts[0], parts[1]]}
    sent = await put_parts(surface, upload, content)
    uploaded = await surface.complete_file_upload(id=file["id"], data=completion(file, sent))

    assert uploaded["is_uploaded"] is True
    assert uploaded["checksum_etag"].endswith('-3"')
    assert uploaded["checksum_sha256_base64"] == checksum(content)
    download = await surface.get_file_download(id=file["id"])
    assert (await surface.client.get(download["url"])).content == content


async def test_an_upload_goes_on_with_the_parts_that_are_left(surface):
    content = os.urandom(2 * PART + 1000)
    file = await surface.create_file(data=new_file(content))
    first = file["upload"]["parts"][0]
    etag = (await put(surface.client, first, content[:PART])).headers["etag"]

    upload = (await surface.get_file(id=file["id"]))["upload"]
    assert upload["id"] == file["upload"]["id"]
    arrived, *left = upload["parts"]
    absent = {"url": None, "headers": None, "expires_at": None}
    assert arrived == part(1, 0, PART, checksum_sha256_base64=None, checksum_etag=etag, **absent)
    assert [entry["checksum_etag"] for entry in left] == [None, None]
    assert all(entry["url"] for entry in left)
    sent = await put_parts(surface, upload, content)
    uploaded = await surface.complete_file_upload(id=file["id"], data=completion(file, sent))
    assert uploaded["is_uploaded"] is True


@pytest.mark.parametrize(
    ("parts", "problems"),
    [
        ([part(1, 0, 12 * MIB - 1)], {(0, "chunk_end"): "part_end"}),
        ([part(1, 1, 12 * MIB)], {(0, "chunk_start"): "part_start"}),
        ([part(2, 0, 12 * MIB)], {(0, "number"): "part_number"}),
        ([part(1, 0, 6 * MIB), part(1, 6 * MIB, 12 * MIB)], {(1, "number"): "part_number"}),
        ([part(1, 0, 6 * MIB), part(2, 7 * MIB, 12 * MIB)], {(1, "chunk_start"): "part_start"}),
        ([part(1, 0, 7 * MIB), part(2, 6 * MIB, 12 * MIB)], {(1, "chunk_start"): "part_start"}),
        ([part(1, 0, PART - 1), part(2, PART - 1, 12 * MIB)], {(0, "chunk_end"): "part_size"}),
        (
            [part(3, 20 * MIB, 20 * MIB), part(1, 0, 12 * MIB)],
            {(0, "number"): "part_number", (0, "chunk_start"): "part_start", (0, "chunk_end"): "part_end"},
        ),
    ],
    ids=["short", "late", "from 2", "repeat", "gap", "overlap", "small", "all at once"],
)
async def test_a_plan_that_does_not_cover_the_file_is_refused(surface, parts, problems):
    found = await refusal(surface.create_file(data=new_file(size=12 * MIB, upload={"parts": parts})))
    assert found == {("upload", "parts", *place): kind for place, kind in problems.items()}


async def test_the_plan_may_name_its_parts_in_any_order(surface):
    parts = [part(2, PART, PART + 1), part(1, 0, PART)]
    file = await surface.create_file(data=new_file(size=PART + 1, upload={"parts": parts}))
    assert [entry["number"] for entry in file["upload"]["parts"]] == [1, 2]


async def test_a_plan_of_many_parts_has_an_address_for_each(surface):
    many = 2 * SIGNED_AT_A_TIME + 1
    parts = [part(number, (number - 1) * PART, number * PART) for number in range(1, many + 1)]
    file = await surface.create_file(data=new_file(size=many * PART, upload={"parts": parts}))
    listed = file["upload"]["parts"]
    assert [each["number"] for each in listed] == list(range(1, many + 1))
    assert len({each["url"] for each in listed}) == many


async def test_checksums_are_declared_for_all_parts_or_for_none(surface):
    plan = [part(1, 0, PART, checksum_sha256_base64=checksum(b"first")), part(2, PART, PART + 1)]
    place = ("upload", "parts", 1, "checksum_sha256_base64")
    call = surface.create_file(data=new_file(size=PART + 1, upload={"parts": plan}))
    assert await refusal(call) == {place: "missing"}


async def test_the_files_checksum_is_that_of_an_only_part(surface):
    stated = checksum(b"content")
    file = await surface.create_file(data=new_file(checksum_sha256_base64=stated))
    assert file["checksum_sha256_base64"] == stated
    assert file["upload"]["parts"][0]["headers"] == {"x-amz-checksum-sha256": stated}

    data = new_file(checksum_sha256_base64=stated)
    data["upload"]["parts"][0]["checksum_sha256_base64"] = checksum(b"another")
    place = ("upload", "parts", 0, "checksum_sha256_base64")
    assert await refusal(surface.create_file(data=data)) == {place: "checksum"}


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({2}, "Part 2 is missing"),
        ({1, 2}, "Parts 1 and 2 are missing"),
        ({2, 3, 5}, "Parts 2, 3 and 5 are missing"),
        (set(range(2, 14)), "Parts 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more are missing"),
    ],
    ids=len,
)
async def test_missing_parts_are_named_and_not_counted(surface, numbers, message):
    plan = [part(number, (number - 1) * PART, number * PART) for number in range(1, 14)]
    file = await surface.create_file(data=new_file(size=13 * PART, upload={"parts": plan}))
    sent = [
        {"number": number, "checksum_etag": '"unseen"', "checksum_sha256_base64": None}
        for number in range(1, 14)
        if number not in numbers
    ]
    with pytest.raises(Refused) as refused:
        await surface.complete_file_upload(id=file["id"], data=completion(file, sent))
    told = {tuple(entry["loc"]): entry["msg"] for entry in refused.value.detail}
    assert told[("parts",)] == f"`parts`: {message}"


async def test_a_completion_has_every_field_of_each_part(surface):
    file = await surface.create_file(data=new_file(b"content"))
    (part_sent,) = await put_parts(surface, file["upload"], b"content")
    for field in part_sent:
        without = {name: value for name, value in part_sent.items() if name != field}
        call = surface.complete_file_upload(id=file["id"], data=completion(file, [without]))
        if surface.name == "rest" or field == "checksum_sha256_base64":
            assert await refusal(call) == {("parts", 0, field): "missing"}
        else:
            with pytest.raises(Refused):
                await call
    done = await surface.complete_file_upload(id=file["id"], data=completion(file, [part_sent]))
    assert done["is_uploaded"] is True


async def test_faults_at_completion_are_named_all_at_once_and_can_be_repaired(surface):
    content = os.urandom(2 * PART + 1000)
    file = await surface.create_file(data=with_checksums(new_file(content), content))
    parts = file["upload"]["parts"]
    sent = await put_parts(surface, file["upload"] | {"parts": parts[:2]}, content)
    wrong = [
        sent[0] | {"checksum_etag": '"0123456789abcdef0123456789abcdef"'},
        sent[1] | {"checksum_sha256_base64": checksum(b"another")},
        sent[1],
        sent[1] | {"number": 9},
    ]
    assert await refusal(surface.complete_file_upload(id=file["id"], data=completion(file, wrong))) == {
        ("parts", 0, "checksum_etag"): "etag",
        ("parts", 1, "checksum_sha256_base64"): "checksum",
        ("parts", 2, "number"): "repeated",
        ("parts", 3, "number"): "not_found",
        ("parts",): "missing",
    }
    unsent = {"number": 3, "checksum_etag": '"never"', "checksum_sha256_base64": None}
    early = completion(file, [*sent, unsent])
    assert await refusal(surface.complete_file_upload(id=file["id"], data=early)) == {
        ("parts", 2, "number"): "missing"
    }
    assert (await surface.get_file(id=file["id"]))["is_uploaded"] is False

    sent += await put_parts(surface, file["upload"] | {"parts": parts[2:]}, content)
    sent[0]["checksum_etag"] = sent[0]["checksum_etag"].strip('"')
    assert (await surface.complete_file_upload(id=file["id"], data=completion(file, sent)))["is_uploaded"]


async def test_the_id_and_the_path_must_be_those_of_the_files_upload(surface):
    file, other = [await surface.create_file(data=new_file()) for _ in range(2)]
    sent = await put_parts(surface, file["upload"], b"content")
    call = surface.complete_file_upload(id=file["id"], data=completion(other, sent))
    assert await refusal(call) == {("id",): "upload", ("path",): "upload"}


async def test_a_second_completion_gives_the_file_again(surface):
    file = await surface.create_file(data=new_file())
    data = completion(file, await put_parts(surface, file["upload"], b"content"))
    uploaded = await surface.complete_file_upload(id=file["id"], data=data)
    assert await surface.complete_file_upload(id=file["id"], data=data) == uploaded
    late = await put(surface.client, file["upload"]["parts"][0], b"changed")
    assert late.is_error


async def test_completions_at_the_same_time_all_give_the_file(surface):
    content = os.urandom(PART + 1000)
    file = await surface.create_file(data=new_file(content))
    data = completion(file, await put_parts(surface, file["upload"], content))
    calls = [surface.complete_file_upload(id=file["id"], data=data) for _ in range(5)]
    first, *others = await asyncio.gather(*calls)
    assert first["is_uploaded"] is True
    assert others == [first] * 4


async def test_a_file_deleted_while_it_is_completed_leaves_no_content(surface, gateway):
    file = await surface.create_file(data=new_file())
    data = completion(file, await put_parts(surface, file["upload"], b"content"))
    completing = surface.complete_file_upload(id=file["id"], data=data)
    results = await asyncio.gather(completing, surface.delete_file(id=file["id"]), return_exceptions=True)
    assert results[1] == file["id"]
    assert isinstance(results[0], dict) or results[0].code == "not_found"
    with pytest.raises(ObjectMissing):
        await gateway.app.state.services.objects.open_object(file["path"])


async def test_a_completion_whose_commit_never_came_can_be_repeated(surface, gateway):
    """The store has joined the parts; the gateway was killed before the row said so."""
    content = os.urandom(PART + 1000)
    file = await surface.create_file(data=new_file(content))
    sent = await put_parts(surface, file["upload"], content)
    sizes = [entry["chunk_end"] - entry["chunk_start"] for entry in file["upload"]["parts"]]
    references = [
        PartReference(entry["number"], size, entry["checksum_etag"])
        for entry, size in zip(sent, sizes, strict=True)
    ]
    await gateway.app.state.services.objects.complete(file["upload"]["id"], file["path"], references)

    left = await surface.get_file(id=file["id"])
    assert left["is_uploaded"] is False
    assert [entry["url"] for entry in left["upload"]["parts"]] == [None, None]
    other = completion(file, [entry | {"checksum_etag": '"x"'} for entry in sent])
    assert await refusal(surface.complete_file_upload(id=file["id"], data=other)) == {("id",): "upload"}
    assert (await surface.complete_file_upload(id=file["id"], data=completion(file, sent)))["is_uploaded"]


async def test_an_image_that_is_none_is_refused_at_completion(surface):
    image = {"service": "product_media", "mime_type": "image/png"}
    file = await surface.create_file(data=new_file(b"<html>", **image))
    data = completion(file, await put_parts(surface, file["upload"], b"<html>"))
    for _ in range(2):
        call = surface.complete_file_upload(id=file["id"], data=data)
        assert set(await refusal(call)) <= {("parts",), ("id",)}
    assert (await surface.get_file(id=file["id"]))["is_uploaded"] is False
    assert (await surface.client.get(file["public_url"])).status_code == 404
    jpeg = await surface.create_file(data=new_file(PNG, service="product_media", mime_type="image/jpeg"))
    data = completion(jpeg, await put_parts(surface, jpeg["upload"], PNG))
    problems = await refusal(surface.complete_file_upload(id=jpeg["id"], data=data))
    assert problems == {("parts",): "mime_type"}
    assert (await upload_image(surface))["is_uploaded"] is True
