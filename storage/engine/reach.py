"""What can be asked about while a node of a cluster does not answer."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Column, ColumnElement, Uuid, literal

from storage.dialects.matching import AnyOf, ListOf
from storage.engine.connections import Connection


def in_reach(connection: Connection, column: Column[Any]) -> Iterator[ColumnElement[bool]]:
    """Yield the condition that the column's workspace is on a node that answers; nothing while all do.

    In a statement about all workspaces, each of its tables needs this, or nodes that do not answer are asked.
    """
    if (ids := connection.reachable) is not None:
        yield AnyOf(column, literal(list(ids), ListOf(Uuid())))
