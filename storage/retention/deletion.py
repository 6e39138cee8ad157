"""Deletes the rows that have ended: a bounded number for each rule, found by an index on their end."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

import structlog
from sqlalchemy import Column, ColumnElement, Row, Select, select
from sqlmodel import SQLModel

from storage.clock import now
from storage.dialects.row_lists import is_among
from storage.dialects.sqlite.refusals import ChangesRefused
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.engine.outages import NodeUnreachable, is_outage, is_over_limit
from storage.engine.reach import in_reach
from storage.retention.rules import Rule
from storage.rows.rows import delete_rows, table_of

log = structlog.get_logger()

ROWS_AT_A_TIME = 1_000
_WORKSPACE = "workspace_id"


async def delete_ended(database: Database, rules: Sequence[Rule], at: datetime | None = None) -> bool:
    """Delete up to `ROWS_AT_A_TIME` rows for each rule; True if there were any, so that more may remain.

    Any number of processes may do so at once: each leaves out the rows that another one has locked. If a rule
    cannot be followed, or takes too long, that is logged, and the others are followed; so are they if one
    needs a node that does not answer. Raises what says that the database is away, and `ChangesRefused`.
    """
    moment, more = at or now(), False
    for rule in rules:
        try:
            more |= await _follow(database, rule, moment)
        except NodeUnreachable:
            # Other rows may be on nodes that answer.
            continue
        except Exception as error:
            if isinstance(error, ChangesRefused) or (is_outage(error) and not is_over_limit(error)):
                raise
            log.exception("rows that have ended were not deleted", table=rule.table.name)
    return more


def find_ended(rule: Rule, at: datetime, *where: ColumnElement[bool]) -> Select[Any]:
    """The keys of the rows that ended first. Sorting makes both databases take the index on the end."""
    return select(*_key_of(rule)).where(*rule.indexed(at), *where).order_by(rule.end).limit(ROWS_AT_A_TIME)


async def _follow(database: Database, rule: Rule, at: datetime) -> bool:
    # Mostly there are none, and then nothing has to wait for a writer of SQLite.
    async with database.read() as connection:
        workspace = _key_of(rule)[0]
        # Which row is the highest is asked of all nodes.
        is_of_one_table = workspace.name == _WORKSPACE and rule.keeps_highest is None
        near = in_reach(connection, workspace) if is_of_one_table else ()
        keys = (await connection.execute(find_ended(rule, at, *near))).all()
    deleted = 0
    for among in _portions(database.dialect.name, rule, keys):
        async with database.write() as connection:
            deleted += await _delete(connection, rule, [among, *rule.are_over(at)])
    return deleted > 0


def _portions(dialect: str, rule: Rule, keys: Sequence[Row[Any]]) -> Iterator[ColumnElement[bool]]:
    """Yield conditions on the keys: locks and changes name one workspace, so that one node has their rows."""
    columns = _key_of(rule)
    if hasattr(rule.model, "tombstone"):
        # What is recorded of a deletion belongs to its workspace.
        yield from (is_among(dialect, columns, [key]) for key in keys)
        return
    if columns[0].name != _WORKSPACE:
        yield from [is_among(dialect, columns, keys)] if keys else []
        return
    for workspace_id, own in groupby(sorted(keys, key=lambda key: str(key[0])), lambda key: key[0]):
        yield (columns[0] == workspace_id) & is_among(dialect, columns[1:], [key[1:] for key in own])


async def _delete(connection: Connection, rule: Rule, where: Sequence[ColumnElement[bool]]) -> int:
    """Delete what is still over and not locked, with its dependents; returns how many rows."""
    columns = _key_of(rule)
    locked = select(*columns).where(*where).with_for_update(skip_locked=True)
    keys, deleted = (await connection.execute(locked)).all(), 0
    if keys and rule.dependents is not None:
        model, name = rule.dependents
        reference = table_of(model).c[name]
        refers = reference.in_([id for (id,) in keys])
        deleted = await _delete_dependents(connection, model, refers)
        left = set((await connection.execute(select(reference).where(refers).distinct())).scalars())
        keys = [key for key in keys if key[0] not in left]
    if keys:
        among = is_among(connection.dialect.name, columns, keys)
        await delete_rows(connection, rule.model, *where, among)
    return deleted + len(keys)


async def _delete_dependents(
    connection: Connection, model: type[SQLModel], where: ColumnElement[bool]
) -> int:
    (key,) = table_of(model).primary_key.columns
    some = select(key).where(where).limit(ROWS_AT_A_TIME).with_for_update(skip_locked=True)
    ids = (await connection.execute(some)).scalars().all()
    if ids:
        await delete_rows(connection, model, key.in_(ids))
    return len(ids)


def _key_of(rule: Rule) -> list[Column[Any]]:
    return list(rule.table.primary_key.columns)
