"""Connections to the coordinator of a cluster, which know of which nodes they ask something."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.cluster.nodes import PART_OF_NODE, HeldOnNodes, Nodes
from storage.engine.connection_terms import Terms
from storage.engine.connections import PostgresqlConnection, Values
from storage.engine.database import Database
from storage.engine.outages import NodeUnreachable, has_state
from storage.engine.payers import key_of
from storage.engine.pool import Connections
from storage.engine.statements.kept import KeptText
from storage.engine.statements.watched import Watching

# The coordinator's process ends soon after its client, and waits for a new connection to a node for a moment.
SETTINGS = {"client_connection_check_interval": "1s", "citus.node_connection_timeout": "2s"}
NODE_SETTINGS = {"client_connection_check_interval": "1s", "default_transaction_read_only": "on"}
# How long opening a connection to a node may take.
OPEN_SECONDS = 2
# What the state of an error begins with that a statement is not understood or allowed.
REFUSED = "42"
_ENDS = ("COMMIT", "ROLLBACK")
_OWN, _ASKING = "node connection", "asking"


class NodeConnection(PostgresqlConnection):
    """A connection whose statements are refused or cut if they need a node that is lost.

    Outside of a transaction, what the coordinator has itself is read from its own tables (`shards.py`); a
    connection that `is_direct` leads to a node. `nodes_of_unit` are those of the workspaces that the
    transaction, or a statement outside of one, named.
    `text` is the statement that runs `since` a moment of the monotonic clock. `cut` is why it was cut.
    """

    def __init__(
        self,
        alchemy: AsyncConnection,
        adapted: Any,
        watching: Watching,
        terms: Terms,
        nodes: Nodes,
        *,
        is_direct: bool = False,
    ) -> None:
        super().__init__(alchemy, adapted, watching, terms)
        self._nodes, self._is_direct = nodes, is_direct
        self.nodes_of_unit: set[int] = set()
        self.text, self.since = "", 0.0
        self.cut: str | None = None
        alchemy.sync_connection.info[_OWN] = self  # type: ignore[union-attr]

    @property
    def reachable(self) -> frozenset[UUID] | None:
        return self._nodes.reachable

    def asking(self, text: str, values: Any) -> Any:
        """What a statement runs in."""
        if not self._in_transaction:
            self.nodes_of_unit.clear()
        return self._nodes.asking(self, text, values, key_of(self.payer))

    async def _fetch(self, written: KeptText, values: Values) -> Sequence[Any]:
        with self.asking(written.text, values):
            copies = self._nodes.copies
            if copies is None or self._in_transaction or self._is_direct:
                return await super()._fetch(written, values)
            if (own := copies.of(written, self.dialect)) is not None:
                try:
                    return await super()._fetch(own.on(self.dialect), values)
                except DBAPIError as error:
                    if not has_state(error, REFUSED):
                        raise
                    copies.refuse(written, self.dialect)
            return await super()._fetch(written, values)

    async def _run(self, text: str) -> str:
        if not (self._in_transaction or text in _ENDS):
            self.nodes_of_unit.clear()
        with self._nodes.asking(self, text, (), None):
            return await super()._run(text)


def watch_nodes(database: Database, nodes: Nodes) -> None:
    """Let no statement wait for a node that does not answer, and each node have a part of the pool."""
    _tell_statements(database.engine.sync_engine)
    _connect_with(database.engine.sync_engine, SETTINGS)
    database.pools["primary"].replace_all(
        partial(NodeConnection, nodes=nodes),
        lambda held, size: HeldOnNodes(held, nodes, max(1, size // PART_OF_NODE)),
    )


def make_node_pool(database: Database, nodes: Nodes, host: str, port: int, size: int) -> Connections:
    """A pool of connections to a node itself, for kept statements that read."""
    url = database.engine.url.difference_update_query(["host", "port"]).set(host=host, port=port)
    pool = database.make_pool(url, size)
    _connect_with(pool.engine.sync_engine, NODE_SETTINGS, timeout=OPEN_SECONDS)
    pool.replace_all(partial(NodeConnection, nodes=nodes, is_direct=True), lambda held, _: held)
    return pool


def _connect_with(engine: Engine, settings: Mapping[str, str], **arguments: Any) -> None:
    """Open connections of the engine with these settings and further arguments of the driver."""

    def connecting(dialect: Any, record: Any, positional: Any, named: dict[str, Any]) -> None:
        named.update(arguments, server_settings={**named["server_settings"], **settings})

    event.listen(engine, "do_connect", connecting)


def _tell_statements(engine: Engine) -> None:
    """Let the statements that SQLAlchemy builds and runs be told like kept ones."""

    def before(connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        own: NodeConnection | None = connection.info.get(_OWN)
        if own is not None:
            asking = own.asking(statement, parameters or ())
            asking.__enter__()
            connection.info[_ASKING] = asking

    def after(connection: Any, *_: Any) -> None:
        if (asking := connection.info.pop(_ASKING, None)) is not None:
            asking.__exit__(None, None, None)

    def failed(context: Any) -> Exception | None:
        if context.connection is None or (asking := context.connection.info.pop(_ASKING, None)) is None:
            return None
        error = context.sqlalchemy_exception or context.original_exception
        try:
            asking.__exit__(type(error), error, error.__traceback__)
        except NodeUnreachable as unreachable:
            return unreachable
        except type(error):
            return None
        return None

    event.listen(engine, "before_cursor_execute", before)
    event.listen(engine, "after_cursor_execute", after)
    event.listen(engine, "handle_error", failed)
