"""Counts of the documents that OAuth clients with an allow-list send, gathered and written in batches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import delete, func, select

from storage.clock import now
from storage.dialects.upsert import upsert
from storage.engine.connections import Connection
from storage.ledger.memory import CountsInMemory
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


class DocumentCounts(CountsInMemory[Key, Count]):
    """The documents that one process was sent since they were last written."""

    def __init__(self) -> None:
        super().__init__(MOST_GATHERED)
        self._gathered: dict[Key, Count] = {}

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

    def _collect(self) -> None:
        gathered, self._gathered = self._gathered, {}
        for key, count in gathered.items():
            earlier = self._unwritten.get(key)
            if earlier is not None:
                count.requests += earlier.requests
                count.root_fields = count.root_fields or earlier.root_fields
            self._unwritten[key] = count

    async def _write(self, connection: Connection, counts: Mapping[Key, Count]) -> None:
        """Add the counts of clients that still exist, and drop unregistered documents beyond the limit."""
        # Locking the clients, in one order, keeps processes from waiting for each other in a circle.
        asked = sorted({id for id, _ in counts}, key=str)
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
            for (id, hash), count in sorted(counts.items(), key=lambda item: (str(item[0][0]), item[0][1]))
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
