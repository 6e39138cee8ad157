"""A node that does not answer: who is refused, whose connection is cut, and what others notice.

One PostgreSQL stands for the coordinator, a lock for the node that hangs, and `Told` for what a cluster says;
`tests/cluster/lost_nodes.py` stops the nodes of a real one.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from uuid import UUID, uuid4

import pytest
import pytest_asyncio
from sqlalchemy import Uuid, column, select, table, text
from structlog.testing import capture_logs

from storage.cluster import nodes as engine_nodes
from storage.cluster.connections import watch_nodes
from storage.cluster.nodes import GONE, UNCHANGEABLE, Nodes, Place
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.engine.outages import NodeUnreachable, is_outage
from storage.engine.payers import Payer
from storage.engine.reach import in_reach
from storage.engine.statements.kept import Kept
from storage.ledger.memory import CountsInMemory
from tests.support.databases.own_databases import named
from tests.support.measures.patience import until

HERE, THERE = uuid4(), uuid4()
ROWS = Kept(text("SELECT words FROM notes WHERE workspace_id = CAST(:workspace AS uuid) FOR UPDATE"))
ALL = Kept(text("SELECT count(*) FROM notes"))
NUMBERS = Kept(text("SELECT count(*) FROM numbers"))
CHANGE = "UPDATE notes SET words = '' WHERE workspace_id = $1"
SIZE = 8


class Told:
    """What the cluster says: which node each workspace is on, and which nodes do not answer."""

    def __init__(self) -> None:
        self.hung: frozenset[int] = frozenset()
        self.asked = 0

    async def places(self) -> Mapping[UUID, Place]:
        return {HERE: Place(1, 1), THERE: Place(2, 2)}

    async def silent(self) -> frozenset[int]:
        self.asked += 1
        return self.hung

    async def end(self) -> None:
        """Nothing is open."""


class Counts(CountsInMemory[UUID, int]):
    """Counts by workspace, which are `written` at once."""

    def __init__(self) -> None:
        super().__init__(most=10)
        self.gathered: dict[UUID, int] = {}
        self.written: dict[UUID, int] = {}

    def _collect(self) -> None:
        self._unwritten, self.gathered = self._unwritten | self.gathered, {}

    def _workspace_of(self, key: UUID) -> UUID:
        return key

    async def _write(self, connection: Connection, counts: Mapping[UUID, int]) -> None:
        self.written |= counts


class Spread(Database):
    """A database with nodes, as they are `told`."""

    def __init__(self, url: str) -> None:
        super().__init__(url, pool_size=SIZE, most_of_one=SIZE)
        self.told = Told()
        self.watched = Nodes(self.told, ["notes"], "workspaces")
        watch_nodes(self, self.watched)

    async def lose(self, *hung: int) -> None:
        """Let these nodes, and no others, not answer, and notice it."""
        self.told.hung = frozenset(hung)
        self.watched.suspect()
        await self.watched.follow()

    async def words(self, workspace_id: UUID, payer: Payer | None = None) -> list[str]:
        return [words for (words,) in await self.fetch(ROWS, {"workspace": workspace_id}, payer=payer)]


@pytest_asyncio.fixture
async def spread(server_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Spread]:
    # A statement is suspicious as soon as it runs, and nodes may be asked again at once.
    monkeypatch.setattr(engine_nodes, "SUSPICIOUS_SECONDS", 0)
    monkeypatch.setattr(engine_nodes, "SECONDS_BETWEEN_QUESTIONS", 0)
    server = Database(server_url)
    async with server.read() as connection:
        await connection.exec_driver_sql(f"CREATE DATABASE {(name := f'nodes_{uuid4().hex}')}")
    await server.close()
    database = Spread(named(server_url, name))
    async with database.write() as connection:
        for name in ("notes", "workspaces"):
            await connection.exec_driver_sql(f"CREATE TABLE {name} (workspace_id uuid, words text)")
        await connection.exec_driver_sql("CREATE TABLE numbers (value int)")
        await connection.exec_driver_sql(
            "CREATE FUNCTION refuse() RETURNS text LANGUAGE plpgsql "
            "AS $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '08006'; END $$"
        )
        for workspace_id in (HERE, THERE):
            await connection.exec_driver_sql(f"INSERT INTO notes VALUES ('{workspace_id}', 'hello')")
    await database.watched.follow()
    # What is said of nodes would go where an earlier test of a gateway let it.
    with capture_logs():
        yield database
    await database.close()


@pytest_asyncio.fixture
async def hung(spread: Spread) -> AsyncIterator[None]:
    """The first node hangs: another connection holds a lock on its rows."""
    other = Database(spread.engine.url.render_as_string(hide_password=False))
    async with other.write() as connection:
        await connection.fetch(ROWS, {"workspace": HERE})
        yield
    await other.close()


async def waiting(spread: Spread, many: int) -> None:
    async def are_running() -> bool:
        return len(spread.watched.running) == many

    await until(are_running)


async def test_who_waits_for_a_lost_node_is_refused_and_others_are_served(spread: Spread, hung: None) -> None:
    lost = [asyncio.create_task(spread.words(HERE)) for _ in range(SIZE // 2)]
    await waiting(spread, len(lost))
    assert await spread.words(THERE) == ["hello"]
    await spread.lose(1)
    for error in await asyncio.gather(*lost, return_exceptions=True):
        assert isinstance(error, NodeUnreachable)
        assert is_outage(error)
        assert str(error) == GONE
    assert await spread.words(THERE) == ["hello"]
    assert spread.pools["primary"].used == 0


async def test_a_lost_node_is_asked_for_nothing_until_it_answers(spread: Spread) -> None:
    await spread.lose(1)
    told: list[str] = []
    spread.listeners.append(told.append)
    with pytest.raises(NodeUnreachable):
        await spread.words(HERE)
    with pytest.raises(NodeUnreachable):
        # On all nodes.
        await spread.fetch(ALL, {})
    assert await spread.fetch(NUMBERS, {})
    assert await spread.words(THERE) == ["hello"]
    await spread.lose()
    assert await spread.words(HERE) == ["hello"]


async def test_a_unit_that_comes_to_a_lost_node_is_rolled_back(spread: Spread) -> None:
    await spread.lose(1)

    async def change() -> None:
        async with spread.write() as connection:
            await connection.exec_driver_sql("INSERT INTO numbers VALUES (1)")
            await connection.exec_driver_sql(CHANGE, (HERE,))

    with pytest.raises(NodeUnreachable):
        await change()
    assert [tuple(row) for row in await spread.fetch(NUMBERS, {})] == [(0,)]
    assert spread.pools["primary"].free == 1


async def test_a_transaction_of_a_node_that_is_lost_meanwhile_ends_at_once(spread: Spread) -> None:
    async def change() -> None:
        async with spread.write() as connection:
            await connection.exec_driver_sql(CHANGE, (HERE,))
            await spread.lose(1)

    with pytest.raises(NodeUnreachable):
        await change()
    # Its connection would have waited for the answer to a COMMIT or ROLLBACK.
    assert spread.pools["primary"].free == 0
    await spread.lose()
    assert await spread.words(HERE) == ["hello"]


async def test_statements_of_sqlalchemy_are_cut_too(spread: Spread, hung: None) -> None:
    async def change() -> None:
        async with spread.write() as connection:
            await connection.execute(
                text("UPDATE notes SET words = 'bye' WHERE workspace_id = CAST(:id AS uuid)"), {"id": HERE}
            )

    task = asyncio.create_task(change())
    await waiting(spread, 1)
    await spread.lose(1)
    with pytest.raises(NodeUnreachable):
        await task
    assert await spread.words(THERE) == ["hello"]


async def test_no_workspace_is_changed_or_locked_while_a_node_is_lost(spread: Spread) -> None:
    await spread.lose(2)
    statements = (
        "INSERT INTO workspaces (words) VALUES ('new')",
        "UPDATE workspaces SET words = ''",
        "SELECT * FROM workspaces FOR KEY SHARE",
    )
    for statement in statements:
        with pytest.raises(NodeUnreachable, match="no workspace can be created") as refused:
            async with spread.write() as connection:
                await connection.exec_driver_sql(statement)
        assert str(refused.value) == UNCHANGEABLE
    async with spread.read() as connection:
        await connection.exec_driver_sql("SELECT * FROM workspaces")


async def test_the_workspaces_of_a_node_hold_half_of_the_pool(spread: Spread) -> None:
    here, there = [Payer(f"here {number}") for number in range(SIZE)], Payer("there")
    for payer in here:
        await spread.words(HERE, payer)
    await spread.words(THERE, there)
    async with AsyncExitStack() as held:
        for payer in here[: SIZE // 2]:
            await held.enter_async_context(spread.read(payer))
        one_more = asyncio.create_task(spread.words(HERE, here[-1]))
        await asyncio.sleep(0)
        assert spread.pools["primary"].waiting == 1
        for _ in range(SIZE):
            assert await spread.words(THERE, there) == ["hello"]
        assert not one_more.done()
    assert await one_more == ["hello"]
    assert spread.pools["primary"].used == 0


async def test_nodes_are_asked_only_for_a_reason(spread: Spread, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_nodes, "SUSPICIOUS_SECONDS", 3600)
    asked = spread.told.asked
    assert await spread.words(HERE) == ["hello"]
    await spread.watched.follow()
    assert spread.told.asked == asked
    with pytest.raises(NodeUnreachable):
        async with spread.read() as connection:
            # What Citus says of a node that refuses connections.
            await connection.exec_driver_sql("INSERT INTO workspaces (words) VALUES (refuse())")
    await spread.watched.follow()
    assert spread.told.asked == asked + 1


async def test_counts_of_a_lost_node_wait_in_memory_and_others_are_written(spread: Spread) -> None:
    counts = Counts()
    for id in (HERE, THERE):
        counts.gathered[id] = 3
    await spread.lose(1)
    await counts.write(spread)
    assert counts.written == {THERE: 3}
    await spread.lose()
    # Further ones wait where they are gathered, while there are too many.
    counts.gathered[THERE], counts.most = 4, 1
    await counts.write(spread)
    assert (counts.written, counts.gathered) == ({THERE: 3, HERE: 3}, {THERE: 4})
    await counts.write(spread)
    assert (counts.written, counts.gathered) == ({THERE: 4, HERE: 3}, {})


async def test_what_is_asked_of_all_workspaces_leaves_out_those_of_a_lost_node(spread: Spread) -> None:
    notes = table("notes", column("workspace_id", Uuid()))

    async def found() -> set[UUID]:
        async with spread.read() as connection:
            rows = select(notes.c.workspace_id).where(*in_reach(connection, notes.c.workspace_id))
            return set((await connection.execute(rows)).scalars())

    assert await found() == {HERE, THERE}
    await spread.lose(1)
    assert await found() == {THERE}


async def test_connections_that_were_opened_before_the_nodes_were_known_are_replaced(server_url: str) -> None:
    database = Database(server_url, pool_size=1)
    async with database.read() as connection:
        watch_nodes(database, Nodes(Told(), ["notes"], "workspaces"))
        assert type(connection).__name__ == "PostgresqlConnection"
    async with database.read() as connection:
        assert type(connection).__name__ == "NodeConnection"
    await database.close()


async def test_a_database_without_nodes_is_asked_by_plain_connections(server_url: str) -> None:
    database = Database(server_url)
    async with database.read() as connection:
        assert type(connection).__name__ == "PostgresqlConnection"
    await database.close()
