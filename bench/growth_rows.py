"""Makes the rows of a small and of a large workspace, by SQL, in the tables of one database."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from bench.kit.servers import Site
from storage.engine.database import Database

NAMES = 20
NAME = "page.viewed.0"
DAYS = 730
LAST_MOMENT = datetime(2026, 10, 31, tzinfo=UTC)
# An id that follows from the number n and is spread like a random one, and the moment of row n.
EXPRESSIONS = {
    "postgresql": {
        "id": "CAST(md5('{workspace}' || CAST(n AS text)) AS uuid)",
        "moment": "timestamptz '{last}Z' - interval '{days} days' * (({many} - n) / {many}.0)",
        "now": "now()",
        "false": "false",
    },
    "sqlite": {
        "id": "printf('%08x%024x', (n * 2654435761) & 4294967295, n)",
        "moment": "strftime('%Y-%m-%d %H:%M:%f000', julianday('{last}') - {days} * ({many} - n) / {many}.0)",
        "now": "strftime('%Y-%m-%d %H:%M:%f000', 'now')",
        "false": "0",
    },
}
NUMBERS = "WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < {many})"
CUSTOMERS = """
INSERT INTO customers (created_at, changed_at, workspace_id, id, email, email_folded, email_verified, name,
    name_folded, billing_address, type, metadata)
{numbers} SELECT {moment}, {moment}, '{workspace}', {id}, 'visitor-' || n || '@example.com',
    'visitor-' || n || '@example.com', {false}, 'Visitor ' || n, 'visitor ' || n, '{{}}', 'individual', '{{}}'
FROM numbers
"""
EVENTS = """
INSERT INTO events (created_at, timestamp, workspace_id, id, source, name, customer_id, metadata)
{numbers} SELECT {moment}, {moment}, '{workspace}', {id}, 'user', 'page.viewed.' || n % {names},
    CASE WHEN n % 2 = 1 THEN {id} END, '{{"path":"/"}}'
FROM numbers
"""
SEEDED = "DELETE FROM changes WHERE workspace_id = '{workspace}'"
# Of now, because older ones are deleted.
CHANGES = """
INSERT INTO changes (workspace_id, id, position, kind, resource_id, at, actor_kind)
{numbers} SELECT '{workspace}', {id}, n + 1, 'customer.created', {id}, {now}, 'operator'
FROM numbers
"""


def fill(site: Site, workspace_id: UUID, many: int, *, has_events: bool = True) -> None:
    """Insert as many customers, changes, and events of 20 names over two years, half of them of customers."""
    templates = (CUSTOMERS, *([EVENTS] if has_events else []), SEEDED, CHANGES)
    asyncio.run(_fill(site, workspace_id, many, templates))


async def _fill(site: Site, workspace_id: UUID, many: int, templates: Sequence[str]) -> None:
    dialect = "postgresql" if site.postgresql else "sqlite"
    last = f"{LAST_MOMENT:%Y-%m-%d %H:%M:%S}"
    values = {"many": many, "workspace": workspace_id.hex, "days": DAYS, "last": last, "names": NAMES}
    made = {name: each.format(**values) for name, each in EXPRESSIONS[dialect].items()}
    database = Database(site.database_url, pool_size=1)
    async with database.write() as connection:
        for template in templates:
            statement = template.format(numbers=NUMBERS.format(many=many), **values, **made)
            await connection.exec_driver_sql(statement)
    await database.close()
