"""What revisions do to tables with many rows while others use them.

On PostgreSQL each of these functions commits what the revision has done so far. A process that is killed
repeats the revision from its beginning, so whatever comes before the last of them must be repeatable: these
functions are. What is not comes after them; it is one transaction with the revision's number.

On SQLite, a revision is a part of one transaction, and nobody else writes.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from alembic import op

from storage.clock import now
from storage.types import MomentColumn

# Rows of a table that are changed in one transaction: others who change them wait for less than a second.
BATCH = 5_000
_IS_INVALID = sa.text("SELECT NOT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)")


def create_index(
    name: str, table: str, columns: Sequence[str], *, where: str | None = None, unique: bool = False
) -> None:
    """Create an index, of the rows `where` says if it says any, while others change the table.

    It waits for transactions that began before, however long they take, and nobody waits for it. If the
    table has no rows, this takes no time. What an interrupted attempt left is replaced.
    """
    rows = None if where is None else sa.text(where)
    create = partial(
        op.create_index, name, table, list(columns), unique=unique, sqlite_where=rows, postgresql_where=rows
    )
    if not _is_postgresql():
        create()
        return
    commit()
    # Citus refuses a SELECT of nothing.
    if not _value(sa.text(f"SELECT EXISTS (SELECT 1 FROM {table})")):  # noqa: S608
        if _value(_IS_INVALID, name=name):
            op.drop_index(name, table_name=table)
        create(if_not_exists=True)
        commit()
        return
    op.get_context().opts["tell"](f"Building {name} while {table} is in use.")
    # The server goes on building for a process that was killed. This statement has no snapshot, for whose
    # end that would wait; and readers and writers do not wait for this lock.
    op.execute("SET LOCAL lock_timeout = 0")
    op.execute(f"LOCK TABLE {table} IN SHARE UPDATE EXCLUSIVE MODE")
    with op.get_context().autocommit_block():
        if _value(_IS_INVALID, name=name):
            op.drop_index(name, table_name=table, postgresql_concurrently=True)
        create(if_not_exists=True, postgresql_concurrently=True)


def add_columns(table: str, *columns: sa.Column[Any]) -> None:
    """Add columns that are nullable or have a constant default, so that no row is written."""
    for column in columns:
        op.add_column(table, column, if_not_exists=_is_postgresql() or None)
    commit()


def fill(table: str, values: Mapping[str, str], where: str) -> None:
    """Set columns to SQL expressions, where that has not been done yet, in batches of rows.

    `where` is false for a row once it has its values.
    """
    rows = sa.Table(table, sa.MetaData(), autoload_with=op.get_bind(), resolve_fks=False)
    expressions = {name: sa.text(expression) for name, expression in values.items()}
    update = sa.update(rows).where(sa.text(where)).values(expressions)
    if not _is_postgresql():
        op.execute(update)
        return
    commit()
    key = rows.primary_key.columns.values()
    after: sa.ColumnElement[bool] = sa.true()
    while True:
        batch = sa.select(*key).where(after).order_by(*key).offset(BATCH - 1).limit(1)
        last = op.get_bind().execute(batch).one_or_none()
        if last is None:
            op.get_bind().execute(update.where(after))
            commit()
            return
        op.get_bind().execute(update.where(after, sa.tuple_(*key) <= tuple(last)))
        commit()
        after = sa.tuple_(*key) > tuple(last)


def count_again(revision: str) -> None:
    """Have gateways count all totals again once no process older than this revision runs.

    A revision calls it that changes what is counted: an older process writes rows beside it that it does not
    count. Nothing was written to a database without workspaces.
    """
    connection = op.get_bind()
    if not _value(sa.text("SELECT EXISTS (SELECT * FROM workspaces)")):
        return
    recounts = sa.table(
        "recounts",
        sa.column("revision", sa.BigInteger()),
        sa.column("begun_at", MomentColumn()),
        sa.column("last", sa.Uuid()),
        sa.column("maker", sa.Uuid()),
        sa.column("claimed_at", MomentColumn()),
    )
    connection.execute(sa.delete(recounts))
    row = {"revision": int(revision), "begun_at": now()}
    connection.execute(sa.insert(recounts), row | dict.fromkeys(("last", "maker"), UUID(int=0)))


def commit() -> None:
    """Commit what the revision has done; on SQLite, its transaction goes on."""
    if _is_postgresql():
        with op.get_context().autocommit_block():
            """What comes next begins another transaction."""


def _is_postgresql() -> bool:
    return op.get_context().dialect.name == "postgresql"


def _value(statement: sa.TextClause, **values: Any) -> Any:
    return op.get_bind().execute(statement, values).scalar()
