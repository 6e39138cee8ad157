"""Statements on the tables that one node has itself, for which PostgreSQL keeps plans and Citus makes none.

A shard of `shares` is a table of its node, such as `shares_102040`. Citus plans each statement with a join
anew, on the coordinator and again on the node; one that names the shards is like any other for PostgreSQL.
"""

import re
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import TypeAlias

from sqlalchemy.engine import Dialect

from storage.caches import Cache
from storage.engine.statements.kept import Kept, KeptText
from storage.tables.registry import METADATA

# Of the texts of all nodes, with what is kept beside each.
BYTES_OF_TEXTS = 16 * 1024 * 1024
BYTES_OF_A_TEXT = 1_000

_NAMES = "|".join(sorted(METADATA.tables, key=len, reverse=True))
# The tables that a statement reads; a dot follows the table of a column, a parenthesis a function.
_READ = re.compile(rf"(\bFROM|\bJOIN|,)(\s+)({_NAMES})\b(?![.(])(\s+AS\b)?")
_IS_READING = re.compile(r"[\s(]*(?:SELECT|WITH)\b")
# What changes or locks rows, and a part of a statement that has the name of a table.
_IS_MORE = re.compile(
    rf"\b(?:INSERT|UPDATE|DELETE|MERGE|SHARE)\b"
    rf"|\b(?:{_NAMES})(?:\s*\([^()]*\))?\s+AS\s+(?:NOT\s+)?(?:MATERIALIZED\s+)?\("
)


@dataclass(slots=True)
class Text:
    """A statement as a node is asked for it; None if it is not."""

    kept: Kept | None


class OwnTables:
    """The tables that the node with the group id `node` has itself.

    `numbers` are those of its shards, by the names that statements have for the tables. With a `shard`, this
    has to be at the node, or there is an error instead of an answer: after a move, its tables stay where they
    were for some seconds, and nothing changes them. `texts` are those of all nodes.
    """

    def __init__(self, node: int, numbers: Mapping[str, int], shard: int | None, texts: "Texts") -> None:
        self.node, self.numbers, self.shard = node, numbers, shard
        self._texts = texts

    def of(self, written: KeptText, dialect: Dialect) -> Kept | None:
        """The statement on these tables; None if the cluster is to be asked for it."""
        return self._text(written, dialect).kept

    def refuse(self, written: KeptText, dialect: Dialect) -> None:
        """From now on, let the cluster be asked for this statement."""
        self._text(written, dialect).kept = None

    def _text(self, written: KeptText, dialect: Dialect) -> Text:
        text = self._texts.get((self, written))
        if text is None:
            text = Text(self._made(written, dialect))
            self._texts.keep((self, written), text, BYTES_OF_A_TEXT + 2 * len(written.text))
        return text

    def _made(self, written: KeptText, dialect: Dialect) -> Kept | None:
        text = self.text_of(written.text)
        if text is None:
            return None
        own = copy(written)
        own.text = text
        return Kept.of_text(own, dialect)

    def text_of(self, text: str) -> str | None:
        """The statement on these tables; None if it reads others, or none, or does more than read."""
        if not _IS_READING.match(text) or _IS_MORE.search(text):
            return None
        reads = {read[3] for read in _READ.finditer(text)}
        if not reads or not reads <= self.numbers.keys():
            return None
        text = _READ.sub(self._renamed, text)
        if self.shard is None:
            return text
        # A division by zero after a move.
        return (
            f"SELECT * FROM ({text}) AS own WHERE 1 / (SELECT count(*) FROM pg_catalog.pg_dist_placement "  # noqa: S608
            f"WHERE shardid = {self.shard} AND groupid = {self.node}) = 1"
        )

    def _renamed(self, read: re.Match[str]) -> str:
        begin, space, name, alias = read.groups()
        return f"{begin}{space}{name}_{self.numbers[name]}{alias or f' AS {name}'}"


Texts: TypeAlias = Cache[tuple[OwnTables, KeptText], Text]


def make_texts() -> Texts:
    """Room for the texts of all nodes."""
    return Cache(BYTES_OF_TEXTS)
