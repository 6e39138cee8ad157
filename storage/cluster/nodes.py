"""The nodes of a cluster: what becomes of statements when one of them does not answer.

Every connection leads to the coordinator, which waits for the node of a workspace without a limit. Which
workspaces a statement asks for is found in its values, so nothing above this folder has to say so.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from time import monotonic
from typing import Any, NamedTuple, Protocol
from uuid import UUID

import structlog

from storage.caches import Cache
from storage.cluster.shards import OwnTables
from storage.engine.lending.payers import Held
from storage.engine.outages import NodeUnreachable, is_lost, is_of_node, is_outage

log = structlog.get_logger()

# A statement that takes longer lets the nodes be asked whether they answer.
SUSPICIOUS_SECONDS = 0.3
SECONDS_BETWEEN_LOOKS = 0.1
SECONDS_BETWEEN_QUESTIONS = 0.5
# How long connections to ask nodes by are kept after that.
SECONDS_OF_CALM = 30
# How long the places of workspaces are believed while nothing fails.
SECONDS_OF_PLACES = 60
# The part of the pool that the workspaces of one node may hold.
PART_OF_NODE = 2
# Of a list of ids, so many are looked at: those of workspaces are few.
MOST_LOOKED_AT = 100
MOST_PAYERS = 10_000
BYTES_OF_TEXTS = 1024 * 1024

GONE = (
    "The node of the database that has this workspace does not answer now. Send the request again in a "
    "moment."
)
UNCHANGEABLE = (
    "A node of the database does not answer now. Until it does, no workspace can be created, changed or "
    "deleted. Send the request again later."
)


class Place(NamedTuple):
    """Where a workspace is: the group id of its node, and the number of a shard that its rows are in."""

    node: int
    shard: int


class Asking(Protocol):
    """A connection that is asking the coordinator."""

    nodes_of_unit: set[int]
    since: float
    text: str
    cut: str | None

    def abort(self) -> None:
        """Cut the connection at once."""

    def is_closed(self) -> bool:
        """Whether this side has closed the connection."""


class Questions(Protocol):
    """What a cluster is asked. Each raises an outage if the coordinator does not answer."""

    async def places(self) -> Mapping[UUID, Place]:
        """Where each workspace is."""

    async def silent(self) -> frozenset[int]:
        """The nodes that do not answer within a second."""

    async def end(self) -> None:
        """Close what is open for asking."""


class Nodes:
    """Where workspaces are, and which nodes are lost.

    `tables` are distributed, and every node has a copy of `reference`. A statement on a lost node is refused,
    and one that waits for it is cut: both are `NodeUnreachable`. `follow` finds out which are lost, as a
    background task: nodes are asked only while a statement takes long, has failed at a node, or one is lost.
    """

    def __init__(self, questions: Questions, tables: Collection[str], reference: str) -> None:
        self.questions = questions
        self.lost: frozenset[int] = frozenset()
        self.running: set[Asking] = set()
        self.places: Mapping[UUID, Place] = {}
        # The tables of the coordinator itself, once they are known.
        self.copies: OwnTables | None = None
        self._placed_at = self._asked_at = -inf
        self._has_failed = False
        self._of_payers: dict[str, int] = {}
        self._reaches: Cache[str, tuple[bool, bool]] = Cache(BYTES_OF_TEXTS)
        names = "|".join(map(re.escape, tables))
        self._distributed = re.compile(rf'(?:FROM|JOIN|INTO|UPDATE|,)\s+"?(?:{names})\b(?!\.)', re.IGNORECASE)
        # Rows of a reference table are changed and locked on every node.
        self._changing = re.compile(
            rf"^\s*(?:INSERT INTO|UPDATE|DELETE FROM) {reference}\b"
            rf"|^\s*SELECT [^(]*\bFROM {reference}\b.* FOR (?:NO KEY UPDATE|UPDATE|KEY SHARE|SHARE)\b",
            re.IGNORECASE | re.DOTALL,
        )

    @property
    def reachable(self) -> frozenset[UUID] | None:
        """The workspaces on nodes that answer; None while all do."""
        if not self.lost:
            return None
        return frozenset(id for id, place in self.places.items() if place.node not in self.lost)

    def node_of(self, key: str) -> int | None:
        """The node that the payer with this key asked last, if it is known."""
        return self._of_payers.get(key)

    @contextmanager
    def asking(self, connection: Asking, text: str, values: Any, payer: str | None) -> Iterator[None]:
        """A statement of the connection. Raises `NodeUnreachable`."""
        asked = self._nodes_of(values)
        if self.lost:
            self._refuse(connection, text, asked)
        if asked:
            connection.nodes_of_unit |= asked
            if payer is not None and len(asked) == 1:
                self._note(payer, *asked)
        connection.text, connection.since = text, monotonic()
        self.running.add(connection)
        try:
            yield
        except Exception as error:
            if connection.cut is not None:
                raise NodeUnreachable(connection.cut) from error
            ended = is_of_node(error)
            if ended or is_lost(error):
                self.suspect()
                # This one is not: it was the coordinator's to a node.
                if not connection.is_closed() and self._reach_of(text)[1]:
                    raise NodeUnreachable(UNCHANGEABLE) from error
            if ended:
                raise NodeUnreachable(GONE) from error
            raise
        finally:
            self.running.discard(connection)

    def suspect(self) -> None:
        """Let the next look ask the nodes."""
        self._has_failed = True

    def forget_places(self) -> None:
        """Let the next look find out where workspaces are."""
        self._placed_at = -inf

    async def follow(self) -> bool:
        """Find out which nodes are lost, if there is a reason to ask. There is never more to do at once."""
        try:
            await self._look()
        except Exception as error:
            # Every request notices that the coordinator is down.
            if not is_outage(error):
                raise
        return False

    async def end(self) -> None:
        await self.questions.end()

    async def _look(self) -> None:
        now = monotonic()
        if not (self.lost or self._has_failed or self._is_slow()):
            if now - self._placed_at > SECONDS_OF_PLACES:
                await self._find_places()
            if now - self._asked_at > SECONDS_OF_CALM:
                await self.questions.end()
            return
        if now - self._asked_at < SECONDS_BETWEEN_QUESTIONS:
            return
        self._asked_at, self._has_failed = now, False
        silent = await self.questions.silent()
        if silent != self.lost:
            # A shard may have been moved, and workspaces are made.
            await self._find_places()
            log.warning("nodes do not answer", nodes=sorted(silent), before=sorted(self.lost))
            self.lost = silent
        self._cut()

    async def _find_places(self) -> None:
        self.places = await self.questions.places()
        self._placed_at = monotonic()

    def _is_slow(self) -> bool:
        before = monotonic() - SUSPICIOUS_SECONDS
        return any(connection.since < before for connection in self.running)

    def _cut(self) -> None:
        """Cut the connections that wait for a node that is lost."""
        if not self.lost:
            return
        before = monotonic() - SUSPICIOUS_SECONDS
        for connection in list(self.running):
            is_distributed, is_changing = self._reach_of(connection.text)
            waits = connection.nodes_of_unit & self.lost or (is_distributed and not connection.nodes_of_unit)
            if connection.since < before and (waits or is_changing):
                connection.cut = UNCHANGEABLE if is_changing else GONE
                connection.abort()

    def _refuse(self, connection: Asking, text: str, asked: set[int]) -> None:
        if connection.nodes_of_unit & self.lost:
            # Neither a COMMIT nor a ROLLBACK would end.
            connection.cut = GONE
            connection.abort()
            raise NodeUnreachable(GONE)
        is_distributed, is_changing = self._reach_of(text)
        if is_changing:
            raise NodeUnreachable(UNCHANGEABLE)
        if asked & self.lost or (is_distributed and not asked):
            raise NodeUnreachable(GONE)

    def _reach_of(self, text: str) -> tuple[bool, bool]:
        """Whether the statement is about distributed tables, and whether it changes or locks a reference."""
        reach = self._reaches.get(text)
        if reach is None:
            reach = bool(self._distributed.search(text)), bool(self._changing.search(text))
            self._reaches.keep(text, reach, len(text))
        return reach

    def _note(self, payer: str, node: int) -> None:
        if len(self._of_payers) >= MOST_PAYERS:
            self._of_payers.clear()
        self._of_payers[payer] = node

    def _nodes_of(self, values: Any) -> set[int]:
        """The nodes of the workspaces among the values of a statement."""
        found = set()
        for value in _flat(values):
            if (place := self.places.get(value)) is not None:
                found.add(place.node)
        return found


class HeldOnNodes(Held):
    """How many connections of a pool each key holds, of which the workspaces of a node hold a part."""

    def __init__(self, held: Held, nodes: Nodes, most_of_node: int) -> None:
        super().__init__(held.most)
        self._counts = held._counts
        self._nodes, self._most_of_node = nodes, most_of_node
        self._by_node: Counter[int] = Counter()
        # The nodes for which the connections of a key were counted.
        self._taken: dict[str, list[int | None]] = {}

    def take(self, key: str | None) -> bool:
        node = None if key is None else self._nodes.node_of(key)
        if node is not None and self._by_node[node] >= self._most_of_node:
            return False
        if not super().take(key):
            return False
        if key is not None:
            self._taken.setdefault(key, []).append(node)
            if node is not None:
                self._by_node[node] += 1
        return True

    def end(self, key: str | None) -> None:
        super().end(key)
        if key is None or not (taken := self._taken.get(key)):
            return
        if (node := taken.pop()) is not None:
            self._by_node[node] -= 1
        if not taken:
            del self._taken[key]


def _flat(values: Any) -> Iterable[Any]:
    """The ids among values, which may be in lists, rows, or the values of joined statements."""
    for value in values.values() if isinstance(values, Mapping) else values:
        if isinstance(value, UUID):
            yield value
        elif isinstance(value, Mapping):
            yield from _flat(value)
        elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
            yield from _flat(value[:MOST_LOOKED_AT])
