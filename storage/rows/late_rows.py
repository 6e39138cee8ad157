"""Rows that a transaction inserts at its end, together with what it changed of totals."""

from typing import Any

from storage.changes.causes import log_inserted
from storage.engine.connections import Connection
from storage.ledger.recording import insert_at_end
from storage.rows.row_values import with_defaults, written
from storage.rows.rows import Model, record, table_of
from storage.totals.lists import count, measure


def insert_row_at_end(connection: Connection, model: type[Model], **values: Any) -> Model:
    """The same as `insert_row` for a workspace's row that no key refuses and nothing reads before the end."""
    complete = with_defaults(model, values)
    (texts,) = written(model, [complete])
    insert_at_end(connection, table_of(model), texts)
    count(connection, model, [complete])
    measure(connection, model, [texts])
    log_inserted(connection, model, [complete])
    return record(model, complete)
