"""What is killed at any of its statements: a migration of a database with rows, and a fold."""

import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from sqlalchemy import Connection, func, inspect, select

from gateway.app import create_app
from gateway.settings.settings import Settings
from storage.engine.database import Database
from storage.migrations.revisions import current_revision
from storage.migrations.run import upgrade
from storage.rows.rows import table_of
from storage.tables.events.event_counts import EventDeltaRow
from storage.tables.metrics.metric_cells import MetricDeltaRow, PersonMergeDeltaRow
from storage.tables.workspaces.totals import ListTotalDeltaRow
from storage.tables.workspaces.workspaces import WorkspaceRow
from storage.upkeep.folding import Fold
from tests.storage.test_migrated_rows import new_workspace
from tests.support.databases.ledgers import verify_cells, verify_totals
from tests.support.servers.gateways import SECRET, Gateway, make_tenant

# The revision before lists were counted: the later ones change rows too.
_OLD_REVISION = "0023"
_DELTAS = tuple(map(table_of, (MetricDeltaRow, PersonMergeDeltaRow, ListTotalDeltaRow, EventDeltaRow)))
# What an interrupted build left.
_UNUSABLE = "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid"
_AT = "2026-01-31 09:30:00.000000"


@dataclass(frozen=True)
class Work:
    """`run` is what is killed, on the database that `prepare` made; `describe` tells what became of it."""

    prepare: Callable[[Database], Awaitable[None]]
    run: Callable[[Database], Awaitable[None]]
    describe: Callable[[Database], Awaitable[Any]]


async def _prepare_old(database: Database) -> None:
    await upgrade(database, _OLD_REVISION)
    workspace = uuid4().hex
    event = "INSERT INTO events (created_at, workspace_id, id, timestamp, source, name, metadata) VALUES "
    values = [
        f"('{_AT}', '{workspace}', '{uuid4().hex}', '{_AT}', 'user', 'opened', '{{}}')" for _ in range(50)
    ]
    async with database.write() as connection:
        await connection.exec_driver_sql(new_workspace(workspace, _AT))
        await connection.exec_driver_sql(event + ", ".join(values))


def _virtual(connection: Connection) -> set[str]:
    """The tables of SQLite that only their module can read."""
    if connection.dialect.name != "sqlite":
        return set()
    made = "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE %'"
    return set(connection.exec_driver_sql(made).scalars())


async def _describe_tables(database: Database) -> Any:
    """The revision, the columns and usable indexes of every table, and how many rows each has."""

    def describe(connection: Connection) -> Any:
        inspector = inspect(connection)
        unusable: set[str] = set()
        if not database.is_sqlite:
            unusable.update(connection.exec_driver_sql(_UNUSABLE).scalars())
        tables = {}
        for name in sorted(set(inspector.get_table_names()) - _virtual(connection)):
            columns = [(column["name"], str(column["type"])) for column in inspector.get_columns(name)]
            indexes = sorted({str(index["name"]) for index in inspector.get_indexes(name)} - unusable)
            rows = connection.exec_driver_sql(f'SELECT count(*) FROM "{name}"').scalar_one()
            tables[name] = [columns, indexes, rows]
        return tables

    async with database.engine.connect() as connection:
        return [await current_revision(database), await connection.run_sync(describe)]


async def _prepare_deltas(database: Database) -> None:
    """Rows of every kind whose deltas wait: no gateway runs, so nothing folds them."""
    await upgrade(database)
    url = database.engine.url.render_as_string(hide_password=False)
    with tempfile.TemporaryDirectory() as folder:
        options = {"database_url": url, "object_store": folder, "secret_key": SECRET, "rate_limit": 0}
        app = create_app(Settings(**options, log_level="error", outbox=f"{folder}/outbox"))
        tenant = await make_tenant(Gateway(app, None, database, Path(folder)))  # type: ignore[arg-type]
        headers = {"Authorization": f"Bearer {tenant.token}"}
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://gateway", headers=headers
        ) as client:
            await _write(client)
        await app.state.services.database.close()


async def _write(client: httpx.AsyncClient) -> None:
    async def post(path: str, body: dict[str, Any]) -> Any:
        answer = await client.post(f"/api/{path}", json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    seen = [{"name": f"seen.{n % 3}", "external_customer_id": f"c-{n % 5}"} for n in range(30)]
    await post("events/ingest", {"events": seen})
    customer = await post("customers/", {"email": "ada@example.com"})
    await post("events/ingest", {"events": [{"name": "known", "customer_id": customer["id"]}]})
    # An external id for a customer with facts of its own: two persons become one.
    answer = await client.patch(f"/api/customers/{customer['id']}", json={"external_id": "c-1"})
    assert answer.status_code == 200, answer.text
    for number in range(3):
        priced = {"file_size_bytes": 7, "price_amount": 500, "price_currency": "eur"}
        session = await post("file-share-sessions/", {**priced, "external_customer_id": f"c-{number}"})
        path = f"file-share-sessions/{session['id']}"
        await post(f"{path}/payments", {"amount": 500, "currency": "eur"})
        await post(f"{path}/downloads", {})


async def _fold(database: Database) -> None:
    fold = Fold(database)
    while await _waiting(database):
        await fold.run()


async def _waiting(database: Database) -> int:
    async with database.engine.connect() as connection:
        counts = [await connection.scalar(select(func.count()).select_from(table)) for table in _DELTAS]
    return sum(count or 0 for count in counts)


async def _describe_cells(database: Database) -> Any:
    """How many cells and totals there are, and how many of them differ from the rows."""
    table = table_of(WorkspaceRow)
    async with database.read() as connection:
        (home,) = (await connection.execute(select(table.c.id))).scalars()
    cells, totals = await verify_cells(database, home), await verify_totals(database, home)
    assert cells.rows > 0
    assert totals.rows > 0
    return [list(cells), list(totals), cells.differences + totals.differences == 0, await _waiting(database)]


WORK: Mapping[str, Work] = {
    "migration": Work(_prepare_old, upgrade, _describe_tables),
    "fold": Work(_prepare_deltas, _fold, _describe_cells),
}
