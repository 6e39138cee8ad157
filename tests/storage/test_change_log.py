"""What a transaction leaves in the change log, who waits for it in this process, and who numbers it."""

import asyncio
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from storage.changes import numbering
from storage.changes.followers import Followers, Full
from storage.changes.kinds import ChangeKind
from storage.changes.log import log_of
from storage.changes.numbering import number_waiting
from storage.ledger.workspace_lock import lock_workspace
from storage.rows.rows import table_of
from storage.tables.changes import ChangeRow

_changes = table_of(ChangeRow)


async def changes_of(gateway, home, *, kind="share", resource_id=None):
    """The kinds, the counts and the positions of what the log of a workspace has of a resource."""
    async with gateway.database.read() as connection:
        columns = _changes.c.kind, _changes.c.count, _changes.c.position
        own = _changes.c.workspace_id == home, _changes.c.resource_id == resource_id
        rows = await connection.execute(select(*columns).where(*own, _changes.c.kind.startswith(kind)))
        return list(map(tuple, rows))


@pytest.mark.parametrize(
    ("caused", "left"),
    [
        (["updated", "archived"], ["archived"]),
        (["archived", "updated"], ["archived"]),
        (["updated", "updated"], ["updated"]),
        (["archived", "unarchived"], ["archived", "unarchived"]),
    ],
)
async def test_an_update_goes_without_saying_beside_what_else_happened(gateway, tenant, caused, left):
    home, share = UUID(tenant.id), uuid4()
    async with gateway.database.write() as connection:
        for happened in caused:
            log_of(connection).add(connection, [ChangeKind(f"share.{happened}")], home, share)
    kinds = sorted(kind for kind, _, _ in await changes_of(gateway, home, resource_id=share))
    assert kinds == [f"share.{happened}" for happened in left]


async def test_what_was_ingested_is_one_change_with_its_number_and_nothing_is_none(gateway, tenant):
    home = UUID(tenant.id)

    async def ingested(*counts):
        """The numbers in the log after a transaction that ingests so many events, one after the other."""
        async with gateway.database.write() as connection:
            for count in counts:
                log_of(connection).add(connection, [ChangeKind.EVENTS_INGESTED], home, None, count=count)
        return [count for _, count, _ in await changes_of(gateway, home, kind="events.ingested")]

    assert await ingested(0) == []
    assert await ingested(2, 0, 3) == [5]


# SQLite numbers changes as they are written.
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_changes_are_left_to_who_holds_the_lock_of_their_workspace_for_long(
    gateway, tenant, monkeypatch
):
    monkeypatch.setattr(numbering, "MOST_TRIES", 2)
    monkeypatch.setattr(numbering, "SECONDS_BETWEEN_TRIES", 0)
    home, share = UUID(tenant.id), uuid4()
    async with gateway.database.write() as connection:
        # The first of all makes the row that is locked, which others wait for.
        await lock_workspace(connection, home, wait=True)
    async with gateway.database.write() as holder:
        assert await lock_workspace(holder, home, wait=True)
        async with gateway.database.write() as connection:
            log_of(connection).add(connection, [ChangeKind.SHARE_CREATED], home, share)
        await number_waiting(gateway.database, home)
        assert await changes_of(gateway, home, resource_id=share) == [("share.created", None, None)]
    # The gateway's fold may hold the lock by now.
    monkeypatch.setattr(numbering, "MOST_TRIES", 1_000_000)
    await number_waiting(gateway.database, home)
    ((_, _, position),) = await changes_of(gateway, home, resource_id=share)
    assert position is not None


async def test_those_who_follow_a_log_end_with_the_process_and_so_do_those_who_come() -> None:
    followers = Followers()
    several = [followers.add(name, UUID(int=home)) for name, home in (("a", 1), ("b", 1), ("a", 2))]
    resting = asyncio.gather(*(each.rest(3600) for each in several))
    followers.end()
    await resting
    assert all(each.has_ended and each.is_woken() for each in several)
    assert followers.add("c", UUID(int=1)).has_ended


def test_a_follower_gives_its_place_to_one_other_however_often_it_is_closed(monkeypatch) -> None:
    monkeypatch.setattr("storage.changes.followers.MOST_OF_ONE", 2)
    followers, home = Followers(), uuid4()
    first, _ = followers.add("a", home), followers.add("a", home)
    for _ in range(2):
        first.close()
    followers.add("a", home)
    with pytest.raises(Full) as refused:
        followers.add("a", home)
    assert refused.value.of_one
    assert followers.has_any
