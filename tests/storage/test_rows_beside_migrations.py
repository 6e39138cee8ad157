"""`make online`: 1,000,000 facts, events and customers are migrated while writers go on.

`ROWS` is how many of each, and there is a fifth of them of what else grows. No writer is refused, each waits
for a lock for less than `BOUND` seconds, and no row is lost.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any

import asyncpg
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from storage.engine.database import Database
from storage.migrations.revisions import current_revision, newest_revision
from storage.migrations.run import LOCK_SECONDS
from storage.searching.texts import is_declared
from storage.tables.registry import METADATA
from tests.storage.migrating import Old, make_old, migrating
from tests.storage.test_migrated_rows import new_workspace
from tests.support.measures.patience import PATIENCE_SECONDS, TAKES_MINUTES

pytestmark = TAKES_MINUTES

ROWS = int(os.environ.get("ROWS", "10000"))
# The revisions after it change each table below but the facts, which are only written.
REVISION = "0027"
BOUND = LOCK_SECONDS + 5
BIGGEST = {"metric_facts", "events", "customers"}
SECONDS_BETWEEN_WRITES = 0.2
AT = "2026-01-31 09:30:00+00"
WORKSPACE, USER, CLIENT = (f"00000000-0000-0000-0000-00000000000{number}" for number in range(3))
OWN = f"'{AT}', '{WORKSPACE}', gen_random_uuid()"

# What a row is made of at the revision, where `n` is its number.
COLUMNS: Mapping[str, tuple[str, str]] = {
    "metric_facts": (
        "workspace_id, id, moment, kind, count, bytes, amount, fee, parts",
        f"'{WORKSPACE}', gen_random_uuid(), n * 1000, 'seen', 1, 0, 0, 0, 0",
    ),
    "events": (
        "created_at, workspace_id, id, timestamp, source, name, metadata",
        f"{OWN}, timestamptz '{AT}' + n * interval '1 second', 'user', 'opened', '{{}}'",
    ),
    "customers": (
        "created_at, workspace_id, id, email, email_folded, email_verified, billing_address, type, metadata,"
        " person",
        f"{OWN}, n || '@example.com', n || '@example.com', false, '{{}}', 'individual', '{{}}', n",
    ),
    "file_share_sessions": (
        "created_at, workspace_id, id, status, file_size_bytes, download_count, is_converted",
        f"{OWN}, 'created', 1, 0, false",
    ),
    "idempotency_keys": (
        "created_at, subject, operation, key, digest",
        f"'{AT}', 'a subject', 'an operation', n::text, 'a digest'",
    ),
    "oauth_grants": (
        "created_at, id, oauth_client_id, user_id, scopes, redirect_uri, authenticated_at",
        f"'{AT}', md5('grant' || n)::uuid, '{CLIENT}', '{USER}', '[]', 'r', '{AT}'",
    ),
    "credentials": (
        "created_at, hash, id, kind, grant_id, scopes, comment, expires_at",
        f"'{AT}', n::text, gen_random_uuid(), 'rt', md5('grant' || (n % {ROWS // 5} + 1))::uuid, '[]', '',"
        f" '{AT}'",
    ),
}
# What writers change in the rows that exist.
CHANGED = {
    "customers": "name = 'new'",
    "file_share_sessions": "download_count = download_count + 1",
    "oauth_grants": "nonce = 'new'",
}
PREPARED = [
    new_workspace(WORKSPACE, AT),
    "INSERT INTO users (created_at, id, email, email_folded, password_hash)"
    f" VALUES ('{AT}', '{USER}', 'a@b.test', 'a@b.test', 'x')",
    "INSERT INTO oauth_clients (created_at, id, client_id, name, redirect_uris, scopes,"
    f" token_endpoint_auth_method) VALUES ('{AT}', '{CLIENT}', 'c', 'A', '[]', '[]', 'none')",
]


def rows_of(table: str) -> int:
    """How many rows the table has before writers begin."""
    return ROWS if table in BIGGEST else ROWS // 5


def insertion(table: str, numbers: str) -> str:
    """The statement that inserts a row for each number."""
    columns, values = COLUMNS[table]
    return f"INSERT INTO {table} ({columns}) SELECT {values} FROM {numbers} AS n"


class Writer:
    """Writes into a table at old columns, now and then, until it is stopped."""

    def __init__(self, table: str) -> None:
        self.table = table
        self.inserted = 0
        self.longest = 0.0
        self.has_begun = asyncio.Event()
        self._is_stopped = False

    def stop(self) -> None:
        self._is_stopped = True

    async def run(self, old: Old) -> None:
        async with old.connected() as connection:
            # PostgreSQL refuses a write that waits for longer, and not one on a machine that stalls.
            await connection.execute(f"SET lock_timeout = '{BOUND}s'")
            await connection.execute(f"SET statement_timeout = '{PATIENCE_SECONDS}s'")
            while not self._is_stopped:
                begun = monotonic()
                await self._write(connection)
                self.longest = max(self.longest, monotonic() - begun)
                self.has_begun.set()
                await asyncio.sleep(SECONDS_BETWEEN_WRITES)

    async def _write(self, connection: asyncpg.Connection) -> None:
        number = ROWS + 1 + self.inserted
        await connection.execute(insertion(self.table, f"generate_series({number}, {number})"))
        self.inserted += 1
        if change := CHANGED.get(self.table):
            row = f"SELECT ctid FROM {self.table} LIMIT 1 OFFSET {self.inserted * 7 % 1000}"
            await connection.execute(f"UPDATE {self.table} SET {change} WHERE ctid = ({row})")


@asynccontextmanager
async def writing(old: Old) -> AsyncIterator[list[Writer]]:
    """A writer for each table, which has written; they end with the block and must not have failed."""
    writers = [Writer(table) for table in COLUMNS]
    async with asyncio.TaskGroup() as group:
        for writer in writers:
            group.create_task(writer.run(old))
        await asyncio.gather(*(writer.has_begun.wait() for writer in writers))
        yield writers
        for writer in writers:
            writer.stop()


async def fill(old: Old) -> None:
    async with old.connected() as connection:
        for statement in PREPARED:
            await connection.execute(statement)
        for table in COLUMNS:
            await connection.execute(insertion(table, f"generate_series(1, {rows_of(table)})"))
        await connection.execute("ANALYZE")


def differences(connection: Any) -> Any:
    context = MigrationContext.configure(connection, opts={"include_name": is_declared, "compare_type": True})
    return compare_metadata(context, METADATA)


async def test_rows_are_migrated_while_writers_go_on(tmp_path, server_url, postgresql_url):
    old = await make_old(REVISION, tmp_path, server_url, postgresql_url)
    await fill(old)
    begun = monotonic()
    async with writing(old) as writers, migrating(old.command) as migration:
        await migration.ends()
    seconds = monotonic() - begun
    summary = [f"{ROWS} facts, events and customers each, from {REVISION} to the newest in {seconds:.0f} s"]
    for writer in writers:
        summary.append(f"{writer.table}: {writer.inserted} writes, the longest took {writer.longest:.2f} s")
    sys.stdout.write("\n".join([*summary, *migration.lines, ""]))

    async with old.connected() as connection:
        for writer in writers:
            rows = await connection.fetchval(f"SELECT count(*) FROM {writer.table}")
            assert rows == rows_of(writer.table) + writer.inserted, writer.table
        assert not await connection.fetch("SELECT FROM pg_index WHERE NOT indisvalid")
        # Rows of an old process get none, as long as one runs.
        grants = await connection.fetchval("SELECT count(*) FROM oauth_grants WHERE ends_at IS NOT NULL")
        assert grants >= rows_of("oauth_grants")
        for table in ("customers", "file_share_sessions"):
            unchanged = f"SELECT count(*) FROM {table} WHERE changed_at < created_at"
            assert await connection.fetchval(unchanged) == 0
    database = Database(old.url)
    assert await current_revision(database) == newest_revision()
    async with database.engine.connect() as connection:
        assert await connection.run_sync(differences) == []
    await database.close()
