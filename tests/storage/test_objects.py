"""Uploads in parts to a real directory: order, replacement, refusals and how uploads continue."""

import os
from hashlib import md5

import pytest

from storage.objects.interface import (
    ObjectMissing,
    ObjectStore,
    PartFault,
    PartReference,
    PartsRefused,
    UploadUnknown,
)
from tests.storage.uploads import (
    PATH,
    begin,
    checksum,
    content_of,
    files_below,
    parameters,
    put,
    reference,
    signed_part,
    store_in,
    uploaded,
)


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


async def test_a_part_that_is_put_again_replaces_the_earlier_one(store, tmp_path):
    upload_id = await begin(store)
    earlier = await put(store, upload_id, 1, b"earlier")
    later = await put(store, upload_id, 1, b"later")
    assert await store.list_parts(upload_id, PATH) == [later]
    assert len(files_below(tmp_path)) == 1
    with pytest.raises(PartsRefused):
        await store.complete(upload_id, PATH, [reference(earlier)])
    await store.complete(upload_id, PATH, [reference(later)])
    assert await content_of(store) == b"later"


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

    async def too_long():
        nonlocal taken
        for _ in range(1024):
            taken += 65536
            yield bytes(65536)

    upload_id = await begin(store)
    request = await signed_part(store, upload_id, 1, 100_000)
    claims = store.urls.verify_part(parameters(request), request.headers)
    with pytest.raises(PartsRefused, match="more than the 100000 bytes"):
        await store.receive_part(claims, too_long())
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
    with pytest.raises(PartsRefused, match="no parts were listed"):
        await store.complete(upload_id, PATH, [])


async def test_an_etag_is_the_same_with_and_without_quotes_and_a_checksum_may_be_left_out(store):
    upload_id = await begin(store)
    part = await put(store, upload_id, 1, b"content")
    bare = reference(part, etag=part.etag.strip('"'), checksum_sha256_base64=None)
    assert (await store.complete(upload_id, PATH, [bare])).size == 7


async def test_a_completion_repeated_with_fewer_parts_is_not_the_same(store):
    upload_id = await begin(store)
    parts = [await put(store, upload_id, number, b"content") for number in (1, 2)]
    await store.complete(upload_id, PATH, [reference(part) for part in parts])
    with pytest.raises(UploadUnknown):
        await store.complete(upload_id, PATH, [reference(parts[0])])


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


async def test_parts_are_joined_where_the_kernel_cannot_copy_files(store, monkeypatch):
    # The call is there on every Linux that runs the tests, and is not on other systems.
    monkeypatch.delattr(os, "copy_file_range")
    contents = [os.urandom(1_500_000), b"", os.urandom(2_000_001)]
    await uploaded(store, *contents)
    assert await content_of(store) == b"".join(contents)
