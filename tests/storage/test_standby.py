"""What a replica says of itself, and what is concluded: one server stands for it, and says what it is told.

tests/storage/test_replicas.py has a real one.
"""

import pytest
import pytest_asyncio
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from gateway.settings.settings import Settings, SettingsError
from storage.engine import replica as engine_replica
from storage.engine.database import Database
from storage.engine.payers import Payer
from storage.engine.replica import Replica, State
from storage.engine.statements.kept import Kept
from tests.support.callers.surfaces import Rest
from tests.support.databases.own_databases import create_database, named
from tests.support.measures.log_lines import own_log_lines
from tests.support.measures.patience import PATIENCE_SECONDS
from tests.support.servers.gateways import make_tenant, run_gateway
from tests.support.servers.replicas import until_it_is

AHEAD, BEHIND = "'7FFFFFFF/0'", "'0/1'"
ONE, BROKEN = Kept(text("SELECT 1")), Kept(text("SELECT 1 / 0"))


class Standby:
    """A database that calls itself a standby server, and the replica that a process takes it for."""

    def __init__(self, url: str) -> None:
        self.database = Database(url)
        pool = self.database.pools["primary"]
        self.replica = Replica(pool, pool)

    async def say(self, *statements: str) -> None:
        for statement in statements:
            async with self.database.read() as connection:
                await connection.exec_driver_sql(statement)

    async def replay(self, position: str) -> None:
        """Say that it has replayed the primary's log up to this position, and be asked."""
        await self.say(
            "CREATE OR REPLACE FUNCTION public.pg_last_wal_replay_lsn() RETURNS pg_lsn "
            f"LANGUAGE plpgsql AS $$ BEGIN RETURN {position}; END $$"
        )
        await self.replica.follow()


@pytest_asyncio.fixture
async def standby(server_url, monkeypatch):
    monkeypatch.setattr(engine_replica, "PATIENCE_SECONDS", PATIENCE_SECONDS)
    name = await create_database(server_url)
    server = Database(server_url)
    async with server.read() as connection:
        # What the server says of itself is looked for here first.
        await connection.exec_driver_sql(f"ALTER DATABASE {name} SET search_path = public, pg_catalog")
    await server.close()
    standby = Standby(named(server_url, name))
    await standby.say(
        "CREATE FUNCTION public.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true'"
    )
    yield standby
    await standby.replica.close()
    await standby.database.close()


async def test_a_standby_that_is_behind_where_it_was_is_read_once_it_has_caught_up(standby):
    replica, states = standby.replica, []
    for position in (BEHIND, AHEAD, BEHIND, AHEAD, AHEAD):
        await standby.replay(position)
        states.append((replica.state, replica.holds([])))
    caught_up, not_yet = (State.USED, True), (State.CATCHING_UP, False)
    # After it fell behind, the primary is asked first where its log is.
    assert states == [not_yet, caught_up, not_yet, caught_up, caught_up]


async def test_a_standby_that_cannot_say_where_it_is_is_set_aside_and_that_is_told_once(standby, monkeypatch):
    monkeypatch.setattr(engine_replica, "SECONDS_ASIDE", 0)
    await standby.replay(AHEAD)
    with own_log_lines() as lines:
        for _ in range(2):
            await standby.replay("'nowhere'")
            assert (standby.replica.state, standby.replica.holds([])) == (State.SET_ASIDE, False)
        await standby.replay(AHEAD)
        await standby.replay(AHEAD)
    assert standby.replica.state is State.USED
    assert [line["event"] for line in lines] == ["replica set aside", "replica used again"]


@pytest.mark.parametrize("payer", [None, Payer("one")], ids=["nobody", "a payer"])
async def test_an_error_of_a_statement_is_the_callers_whoever_pays(standby, payer):
    assert list(await standby.replica.fetch(ONE, {}, payer)) == [(1,)]
    with pytest.raises(DBAPIError, match="division by zero"):
        await standby.replica.fetch(BROKEN, {}, payer)
    assert list(await standby.replica.fetch(ONE, {}, payer)) == [(1,)]


async def test_a_replica_of_sqlite_is_refused():
    with pytest.raises(SettingsError, match="only PostgreSQL has replicas"):
        Settings.from_environ({"DUOGRAPH_DATABASE_READ_URL": "sqlite:///copy.sqlite"})


async def test_a_server_that_is_no_standby_is_set_aside(postgresql_url, tmp_path):
    async for gateway in run_gateway(postgresql_url, tmp_path, database_read_url=postgresql_url):
        await until_it_is("set_aside", gateway)
        tenant = await make_tenant(gateway)
        rest = Rest(gateway.client, gateway.app, tenant.token)
        assert (await rest.list_events())["data"] == []
