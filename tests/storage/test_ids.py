"""New ids are UUIDs like those of `uuid4`."""

from uuid import RFC_4122, UUID

from storage.ids import new_ids


def test_new_ids_are_random_uuids_of_version_4():
    ids = new_ids(1000)
    assert len(set(ids)) == 1000
    assert {(id.version, id.variant) for id in ids} == {(4, RFC_4122)}
    assert [UUID(str(id)) for id in ids] == ids
    # Of 122 bits each is 1 in some and 0 in others.
    ones, zeros = 0, 0
    for id in ids:
        ones, zeros = ones | id.int, zeros | ~id.int
    assert (ones & zeros).bit_count() == 122
    assert new_ids(0) == []
