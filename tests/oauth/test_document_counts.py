"""How the documents of OAuth clients with an allow-list are counted, and how many are kept."""

from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from storage.retention.deletion import delete_ended
from storage.retention.rules import DOCUMENTS_KEPT_FOR, RULES
from storage.usage import document_counts
from tests.support.tenants.allow_lists import NAMES, OTHER, hash_of, make_sender


@pytest_asyncio.fixture
async def sender(gateway, surface, tenant):
    return await make_sender(gateway, surface, tenant)


async def test_no_more_unregistered_documents_are_kept_than_those_sent_last(sender, monkeypatch):
    monkeypatch.setattr(document_counts, "MOST_UNREGISTERED", 2)
    await sender.mode("report")
    await sender.register(NAMES)
    texts = [f"{{ shares {{ data {{ name{' id' * n} }} }} }}" for n in range(4)]
    for text in texts:
        await sender.send(text)
        await sender.listed()
    hashes = {document["hash"] for document in await sender.listed()}
    assert hashes == {hash_of(text) for text in (NAMES, *texts[2:])}


async def test_a_process_gathers_no_more_documents_than_its_limit(sender, monkeypatch):
    # What tests before have gathered would take the places.
    await sender.listed()
    monkeypatch.setattr(document_counts, "MOST_GATHERED", 2)
    await sender.mode("report")
    for n in range(4):
        assert "data" in (await sender.send(f"{{ shares {{ data {{ name{' id' * n} }} }} }}")).json()
    assert len(await sender.listed()) == 2


async def test_counts_that_cannot_be_written_are_written_later(sender, monkeypatch):
    await sender.mode("report")
    await sender.send()
    counts = sender.gateway.app.state.services.document_counts

    async def fail(*_: Any) -> None:
        raise OSError("The database is away.")

    with monkeypatch.context() as broken:
        broken.setattr(document_counts.DocumentCounts, "_write", fail)
        with pytest.raises(OSError, match="away"):
            await counts.write(sender.gateway.database)
    await sender.send()
    assert [document["requests"] for document in await sender.listed()] == [2]


async def test_unused_documents_are_dropped_after_90_days(sender, gateway):
    await sender.mode("report")
    await sender.register(NAMES)
    for text in (NAMES, OTHER):
        await sender.send(text)
    await sender.listed()
    table = document_counts._table
    own = table.c.oauth_client_id == UUID(sender.id)
    async with gateway.database.write() as connection:
        earlier = document_counts.now() - DOCUMENTS_KEPT_FOR
        await connection.execute(table.update().where(own).values(last_used_at=earlier))
    await delete_ended(gateway.database, RULES)
    assert [document["hash"] for document in await sender.listed()] == [hash_of(NAMES)]
