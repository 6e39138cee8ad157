"""New ids are UUIDs like those of `uuid4`, or grow with time; persons are numbered in blocks."""

from uuid import RFC_4122, UUID

import pytest

from storage import ids
from storage.engine.database import Database
from storage.ids import growing_number, id_of, new_ids
from storage.persons import numbers


def test_new_ids_are_random_uuids_of_version_4():
    made = new_ids(1000)
    assert len(set(made)) == 1000
    assert {(id.version, id.variant) for id in made} == {(4, RFC_4122)}
    assert [UUID(str(id)) for id in made] == made
    # Of 122 bits each is 1 in some and 0 in others.
    ones, zeros = 0, 0
    for id in made:
        ones, zeros = ones | id.int, zeros | ~id.int
    assert (ones & zeros).bit_count() == 122
    assert new_ids(0) == []


def test_growing_ids_are_uuids_of_version_7_in_the_order_of_their_moments(monkeypatch):
    numbers = []
    for moment in range(1_700_000_000_000_000_000, 1_700_000_000_002_000_000, 1_000):
        monkeypatch.setattr(ids, "time_ns", lambda moment=moment: moment)
        numbers.append(growing_number())
    made = [id_of(number) for number in numbers]
    assert made == sorted(set(made))
    assert {(id.version, id.variant) for id in made} == {(7, RFC_4122)}
    assert {id.int >> 80 for id in made} == {1_700_000_000_000, 1_700_000_000_001}
    assert id_of(numbers[0] + 1).int == made[0].int + 1


# SQLite has no blocks.
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_a_workspace_whose_block_of_numbers_is_forgotten_begins_another_one(
    gateway, tenant, other_tenant, monkeypatch
):
    monkeypatch.setattr(numbers, "MOST_BLOCKS", 1)
    database = Database(gateway.database.engine.url.render_as_string(hide_password=False))

    async def number(home):
        async with database.write() as connection:
            (person,) = await numbers.new_persons(connection, database, UUID(home.id), 1)
        return person

    first = await number(tenant)
    assert await number(tenant) == first + 1
    await number(other_tenant)
    assert await number(tenant) == first + numbers.BLOCK
    await database.close()
