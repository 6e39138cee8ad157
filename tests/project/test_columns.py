"""Misspelt columns, keywords, labels and values are found in the sources, and nothing else is."""

import pytest

from tests.project.columns import ROOT, Check

HEAD = """
from sqlalchemy import exists, select, update
from storage.dialects.upsert import upsert
from storage.rows.rows import insert_row, insert_rows, read_one, table_of, update_row
from storage.tables.shares.shares import PriceRow, ShareRow

_shares, _prices = table_of(ShareRow), table_of(PriceRow)


async def work(connection, ctx, dialect, record, id, table):
"""
# What is wrong in each, and the name that the sentence proposes.
MISTAKES = {
    "_prices.c.craeted_at": "created_at",
    "_prices.alias().c.craeted_at": "created_at",
    "_prices.c['craeted_at']": "created_at",
    "select(_shares.c.name).subquery().c.nmae": "name",
    "table.c.craeted_at": "created_at",
    "await insert_row(connection, ShareRow, nmae='a')": "name",
    "await insert_row(connection, ShareRow, **{'nmae': 'a'})": "name",
    "await insert_rows(connection, ShareRow, [{'nmae': each} for each in 'ab'])": "name",
    "await update_row(connection, ShareRow, record, descripton='a')": "description",
    "await connection.execute(update(_shares).where(_shares.c.id == id).values(nmae='a'))": "name",
    "await connection.execute(update(_shares).values({'nmae': 'a'}))": "name",
    "upsert(dialect, _shares).on_conflict_do_update(index_elements=['idd'], set_={'name': 'a'})": "id",
    "return await read_one(ctx, ShareRow, SHARE, di=id)": "id",
    "return (await connection.execute(select(_shares.c.name))).one().nmae": "name",
    "return [row.nmae for row in await connection.execute(select(_shares.c.name))]": "name",
    "return (await connection.execute(select(exists(_shares).label('is_new')))).one().is_nwe": "is_new",
}
CORRECT = (
    "return _prices.c.created_at, table.c.created_at, _prices.c.keys(), record.anything",
    "await insert_row(connection, ShareRow, name='a', **record)",
    "select(_shares, _prices.c.price_amount.label('amount')).subquery().c.amount",
    "return [row.status for row in await connection.execute(select(*table.c, _shares.c.name.label('b')))]",
    "return [row.id for row in await connection.execute(select(_shares))], {'nmae': 1}.values()",
    "await read_one(ctx, ShareRow, SHARE, replica=True, id=id)",
    "statement = select(_shares.c.id)\n    statement = statement.where(id)\n    "
    "return (await connection.execute(statement)).one().id",
)


def faults(body: str) -> list[str]:
    return Check(ROOT / "resolvers" / "planted.py", f"{HEAD}    {body}\n").run().faults


@pytest.mark.parametrize("body", MISTAKES)
def test_a_mistake_is_found_with_the_name_that_was_meant(body: str) -> None:
    (fault,) = faults(body)
    assert "planted.py:11: " in fault
    assert fault.endswith(f"Did you mean {MISTAKES[body]!r}?")


@pytest.mark.parametrize("body", CORRECT)
def test_what_is_correct_or_cannot_be_told_is_no_mistake(body: str) -> None:
    assert faults(body) == []
