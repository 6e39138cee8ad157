"""Counts of the documents that OAuth clients with an allow-list send, gathered and written in batches."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import delete, func, select

from storage.clock import now
from storage.dialects.upsert import upsert
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.rows.rows import table_of
from storage.tables.credentials.oauth_client_documents import OAuthClientDocumentRow
from storage.tables.credentials.oauth_clients import OAuthClientRow

# In memory, until they are written.
MOST_GATHERED = 5_000
MOST_UNREGISTERED = 500

_table, _clients = table_of(OAuthClientDocumentRow), table_of(OAuthClientRow)
# An OAuth client and the hash of a document.
Key = tuple[UUID, str]


@dataclass(slots=True)
class Count:
    """`root_fields` are None for a document that did not run."""

    requests: int
    last_used_at: datetime
    root_fields: Sequence[str] | None = None


class DocumentCounts:
    """The counts of one process since they were last written.

    Beyond `MOST_GATHERED` documents, further ones are not counted until the next writing.
    """

    def __init__(self) -> None:
        self._gathered: dict[Key, Count] = {}
        self._writing = asyncio.Lock()

    def add(self, oauth_client_id: UUID, hash: str) -> Count | None:
        """Count a document once; its count, or None if it is one too many."""
        moment, key = now(), (oauth_client_id, hash)
        count = self._gathered.get(key)
        if count is not None:
            count.requests += 1
            count.last_used_at = moment
        elif len(self._gathered) < MOST_GATHERED:
            count = self._gathered[key] = Count(1, moment)
        return count

    async def write(self, database: Database) -> bool:
        """Write what was gathered; if this fails it is gathered again. False: nothing is left to write."""
        async with self._writing:
            gathered, self._gathered = self._gathered, {}
            try:
                if gathered:
                    async with database.write() as connection:
                        await _write(connection, gathered)
            except BaseException:
                self._take_back(gathered)
                raise
        return False

    def _take_back(self, gathered: dict[Key, Count]) -> None:
        for key, count in gathered.items():
            newer = self._gathered.get(key)
            if newer is None:
                self._gathered[key] = count
            else:
                newer.requests += count.requests
                newer.root_fields = newer.root_fields or count.root_fields


async def _write(connection: Connection, gathered: dict[Key, Count]) -> None:
    """Add the counts of clients that still exist, and drop unregistered documents beyond the limit."""
    # Locking the clients, in one order, keeps processes from waiting for each other in a circle.
    asked = sorted({id for id, _ in gathered}, key=str)
    living = select(_clients.c.id).where(_clients.c.id.in_(asked), _clients.c.deleted_at.is_(None))
    locked = living.order_by(_clients.c.id).with_for_update(key_share=True)
    ids = set((await connection.execute(locked)).scalars())
    rows = [
        {
            "id": uuid4(),
            "created_at": count.last_used_at,
            "oauth_client_id": id,
            "hash": hash,
            "is_registered": False,
            "root_fields": None if count.root_fields is None else list(count.root_fields),
            "requests": count.requests,
            "last_used_at": count.last_used_at,
        }
        for (id, hash), count in sorted(gathered.items(), key=lambda item: (str(item[0][0]), item[0][1]))
        if id in ids
    ]
    if not rows:
        return
    insert = upsert(connection.dialect.name, _table)
    sent = insert.excluded
    added = insert.on_conflict_do_update(
        index_elements=[_table.c.oauth_client_id, _table.c.hash],
        set_={
            "requests": _table.c.requests + sent.requests,
            "last_used_at": sent.last_used_at,
            "root_fields": func.coalesce(_table.c.root_fields, sent.root_fields),
        },
    )
    await connection.execute(added, rows)
    for id in ids:
        unregistered = (_table.c.oauth_client_id == id) & _table.c.is_registered.is_(False)
        newest_first = select(_table.c.id).where(unregistered).order_by(_table.c.last_used_at.desc())
        beyond = newest_first.offset(MOST_UNREGISTERED).limit(2 * MOST_GATHERED)
        await connection.execute(delete(_table).where(_table.c.id.in_(beyond)))
