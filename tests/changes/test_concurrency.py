"""Writers and readers at once: no writer waits because of the log, and no position is passed late."""

import asyncio
from contextlib import suppress
from uuid import UUID, uuid4

import pytest

from storage.changes.numbering import number_waiting
from storage.rows.rows import insert_row, update_row
from storage.tables.shares.shares import ShareRow
from tests.changes.following import changes_after, newest

WRITERS, ROUNDS = 4, 12


async def write(gateway, tenant):
    """Make a share and change it again and again; returns its id."""
    async with gateway.database.write() as connection:
        share = await insert_row(connection, ShareRow, workspace_id=UUID(tenant.id), name="A share")
    for number in range(ROUNDS):
        # Several transactions of the workspace are open at once, and end in another order.
        async with gateway.database.write() as connection:
            share = await update_row(connection, ShareRow, share, name=f"Share {number}")
            await asyncio.sleep(0)
    return str(share.id)


async def follow(surface, position, done):
    """Read to the end of the log once `done` is set.

    The reader is killed in the middle of each page, and goes on from the last change that it kept.
    """
    read = []
    while True:
        is_last = done.is_set()
        page = await surface.get_changes(after=position, limit=3)
        kept = page["data"][:2]
        read += kept
        if kept:
            position = kept[-1]["position"]
        elif is_last:
            return read


async def test_a_reader_beside_writers_gets_each_change_once_and_in_order(rest, gateway, tenant):
    start, done = await newest(rest), asyncio.Event()

    async def write_all():
        ids = await asyncio.gather(*(write(gateway, tenant) for _ in range(WRITERS)))
        done.set()
        return ids

    ids, *readers = await asyncio.gather(write_all(), follow(rest, start, done), follow(rest, start, done))
    log = await changes_after(rest, start)
    for read in readers:
        assert [change["id"] for change in read] == [change["id"] for change in log]
    numbers = [int(change["position"]) for change in log]
    assert numbers == list(range(int(start) + 1, int(start) + 1 + WRITERS * (ROUNDS + 1)))
    for id in ids:
        kinds = [change["kind"] for change in log if change["resource_id"] == id]
        assert kinds == ["share.created", *["share.updated"] * ROUNDS]


# SQLite has one writer.
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_a_change_that_commits_later_gets_a_later_position(rest, gateway, tenant):
    home, start = UUID(tenant.id), await newest(rest)
    async with gateway.database.write() as slow:
        late = await insert_row(slow, ShareRow, workspace_id=home, name="Late")
        # Neither waits for the transaction that began before it, although the log is the same.
        async with gateway.database.write() as fast:
            early = await insert_row(fast, ShareRow, workspace_id=home, name="Early")
        await number_waiting(gateway.database, home)
        (seen,) = await changes_after(rest, start)
        assert seen["resource_id"] == str(early.id)
    (then,) = await changes_after(rest, seen["position"])
    assert then["resource_id"] == str(late.id)
    assert then["position"] > seen["position"]


async def test_what_is_rolled_back_leaves_nothing(rest, gateway, tenant):
    start = await newest(rest)
    with suppress(ZeroDivisionError):
        async with gateway.database.write() as connection:
            await insert_row(connection, ShareRow, workspace_id=UUID(tenant.id), name="Never")
            _ = 1 / 0
    share = await rest.create_share(data={"name": f"S {uuid4().hex}", "prices": [{"amount_type": "free"}]})
    (change,) = await changes_after(rest, start)
    assert change["resource_id"] == share["id"]
    assert int(change["position"]) == int(start) + 1
