"""Whether PostgreSQL has the connections that a gateway may open, and settings that fit a pooler."""

from collections.abc import AsyncIterator

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from gateway.settings.settings import Settings
from storage.engine.connection_terms import PLAIN_PLANS, Terms
from storage.engine.database import Database

# Beside the pool: to reserve numbers for persons, to ask a replica what it holds, and to hear of other
# processes' commits.
BESIDE_THE_POOL = 2
_LIMITS = text(
    "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int"
)
_STATE = text(
    "SELECT current_database(), current_setting('statement_timeout'), "
    + ", ".join(f"current_setting('{name}')" for name in PLAIN_PLANS)
)


async def warnings_of_servers(settings: Settings, workers: int) -> AsyncIterator[tuple[str, str]]:
    """Yield the topic and the sentence of each warning; a server that does not answer is found elsewhere."""
    addresses = {"database": settings.database_url, "read replica": settings.database_read_url}
    for topic, address in addresses.items():
        if address is None or settings.sqlite_path is not None:
            continue
        database = Database(address, pool_size=1, terms=Terms(pooled=settings.database_terms.pooled))
        try:
            async for sentence in _warnings(database, settings, workers):
                yield topic, sentence
        except (DBAPIError, OSError):
            continue
        finally:
            await database.close()


async def _warnings(database: Database, settings: Settings, workers: int) -> AsyncIterator[str]:
    async with database.read() as connection:
        if settings.database_terms.pooled:
            name, limit, *plans = (await connection.execute(_STATE)).one()
            wanted = zip(PLAIN_PLANS.items(), plans, strict=True)
            missing = [f"{key} = {value}" for (key, value), current in wanted if current != value]
            if limit == "0" and settings.database_statement_seconds:
                missing.append(f"statement_timeout = '{settings.database_statement_seconds}s'")
            if missing:
                commands = "; ".join(f'ALTER DATABASE "{name}" SET {change}' for change in missing)
                yield f"The pooler takes no settings from the gateway: run {commands}."
            return
        most = (await connection.execute(_LIMITS)).scalar_one()
    needed = workers * (settings.database_pool_size + BESIDE_THE_POOL)
    if needed > most:
        yield (
            f"{workers} processes may open {needed} connections, and the server takes {most}: lower "
            "DUOGRAPH_DATABASE_POOL_SIZE, raise max_connections, or put a pooler in front."
        )
