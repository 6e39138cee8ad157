"""A receiver that does not answer: its endpoint keeps no other waiting."""

import asyncio

from gateway.webhooks import delivery, sending
from tests.support.servers.receiver import Receiver, accept
from tests.webhooks.test_deliveries import (
    add_endpoint,
    create_share,
    deliveries_of,
    every,
    rewind,
    when,
    when_attempted,
)
from tests.webhooks.test_health import endpoint_row


async def test_an_endpoint_that_hangs_keeps_no_other_waiting(sender, workspace, receiver):
    hangs = await Receiver().start()
    begun = []

    async def hang(received):
        begun.append(received)
        await release.wait()
        return await accept(received)

    release = asyncio.Event()
    hangs.answer = hang
    slow = await add_endpoint(workspace, hangs, "share.created")
    made = await add_endpoint(workspace, receiver, "share.created")
    await create_share(workspace)
    await when(sender, made, every("succeeded"))
    await create_share(workspace)
    await when(sender, made, lambda rows: len(rows) == 2 and every("succeeded")(rows))
    release.set()
    await when(sender, slow, every("succeeded"))
    await hangs.stop()


async def test_one_that_lets_everything_wait_gives_its_place_to_another(
    sender, workspace, receiver, monkeypatch
):
    """With one place, and more waiting for the one that hangs than is sent at a time."""
    for name, value in {"MOST_WORKERS": 1, "AT_A_TIME": 2, "SECONDS_AFTER_HANGING": 3600}.items():
        monkeypatch.setattr(delivery, name, value)
    hangs, release = await Receiver().start(), asyncio.Event()

    async def hang(received):
        await release.wait()
        return await accept(received)

    hangs.answer = hang
    for _ in range(5):
        await create_share(workspace)
    with monkeypatch.context() as patched:
        patched.setattr(sending, "SECONDS", 0.1)
        slow = await add_endpoint(workspace, hangs, "share.created")
        await rewind(sender, slow)
        await when_attempted(sender, slow)
    made = await add_endpoint(workspace, receiver, "share.created")
    await rewind(sender, made)
    await when(sender, made, lambda rows: len(rows) == 5 and every("succeeded")(rows))
    assert [row.attempts for row in await deliveries_of(sender, slow)] == [1, 1, 0, 0, 0]
    release.set()
    await hangs.stop()


async def test_what_was_claimed_and_not_begun_is_no_attempt(sender, workspace, receiver, monkeypatch):
    made = await add_endpoint(workspace, receiver, "share.created")
    with monkeypatch.context() as patched:
        # As if each thing claimed had waited too long for its turn.
        patched.setattr(delivery, "SECONDS_TO_BEGIN", -1)
        await create_share(workspace)
        await when(sender, made, lambda rows: rows[0].attempts_before > 0)
        assert receiver.received == []
        assert (await endpoint_row(sender, made)).failing_since is None
    await when(sender, made, every("succeeded"))
    (row,) = await deliveries_of(sender, made)
    assert row.attempts - row.attempts_before == 1
