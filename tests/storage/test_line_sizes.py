"""Lines with rows inside them: PostgreSQL stops making them soon after they are too long.

A sequence counts what is made: a statement that fails takes back nothing of it.
"""

from uuid import uuid4

import pytest
from sqlalchemy import func, select

from storage.dialects.json_rows import LONGEST_TEXT, LinesTooLong, lines, lines_of, written_lines
from storage.engine.database import Database
from storage.engine.statements.kept import Kept

MEBIBYTE = 2**20


@pytest.fixture
async def database(postgresql_url):
    database = Database(postgresql_url, pool_size=1)
    yield database
    await database.close()


@pytest.fixture
async def made(database):
    """The name of a sequence, which counts texts, and of the function that makes them."""
    name = f"made_{uuid4().hex}"
    body = f"BEGIN PERFORM nextval('{name}'); RETURN repeat('x', {MEBIBYTE}); END"
    await run(database, f"CREATE SEQUENCE {name}")
    # PostgreSQL would move no function that is volatile.
    await run(
        database,
        f"CREATE FUNCTION {name}(number int) RETURNS text LANGUAGE plpgsql STABLE COST 1000 AS $${body}$$",
    )
    yield name
    await run(database, f"DROP FUNCTION {name}")
    await run(database, f"DROP SEQUENCE {name}")


async def run(database, statement):
    async with database.write() as connection:
        return await connection.exec_driver_sql(statement)


def table(count):
    """A table of so many rows."""
    return func.generate_series(1, count).table_valued("number").render_derived(f"rows_{uuid4().hex}")


def within(row, count, *cells):
    """The lines of so many rows inside a row."""
    return lines(select(table(count).c.number), *cells, outside=row)


def text(made, row):
    """A text of a mebibyte for a row, which is counted when it is made."""
    return getattr(func, made)(row.c.number)


async def made_of(database, made, statement):
    """How many texts are made for a statement that is refused."""
    with pytest.raises(LinesTooLong):
        await database.fetch(Kept(select(statement), database.dialect), {})
    return (await run(database, f"SELECT last_value FROM {made}")).scalar_one()


async def test_many_lines_are_made_until_one_is_too_many(database, made):
    many = table(100)
    statement = written_lines(select(many.c.number), within(many, 1, text(made, many)))
    assert await made_of(database, made, statement) == 16


async def test_many_lines_in_one_are_made_until_one_is_too_many(database, made):
    many, one = table(100), table(1)
    inside = lines(select(many.c.number), within(many, 1, text(made, many)), outside=one)
    assert await made_of(database, made, written_lines(select(one.c.number), inside)) == 16


async def test_lines_are_sorted_before_they_are_made(database, made):
    many, one = table(100), table(1)
    sorted_rows = select(many.c.number).order_by(many.c.number.desc())
    inside = lines(sorted_rows, within(many, 1, text(made, many)), outside=one)
    assert await made_of(database, made, written_lines(select(one.c.number), inside)) == 16


async def test_lines_are_made_once(database, made):
    two = table(2)
    statement = select(written_lines(select(two.c.number), within(two, 1, text(made, two))))
    await database.fetch(Kept(statement, database.dialect), {})
    assert (await run(database, f"SELECT last_value FROM {made}")).scalar_one() == 2


async def test_large_lines_are_made_until_one_is_too_many(database, made):
    many = table(100)
    # They are larger than what PostgreSQL keeps in memory of what it sorts or lays aside.
    statement = written_lines(select(many.c.number), within(many, 5, text(made, many)))
    assert await made_of(database, made, statement) == 20


async def test_lines_that_are_not_too_long_are_read_whole(database):
    many = table(15)
    inside = within(many, 3, func.repeat("ü", MEBIBYTE // 8))
    deep = within(many, 2, within(many, 1, func.repeat("e", 3)))
    empty = within(many, 0, within(many, 1, func.repeat("e", 3)))
    statement = select(written_lines(select(many.c.number), inside, deep, empty))
    ((written,),) = await database.fetch(Kept(statement, database.dialect), {})
    line = [[["ü" * (MEBIBYTE // 8)]] * 3, [[[["eee"]]]] * 2, []]
    assert list(lines_of(written, lambda _: None)) == [line] * 15


def test_lines_of_more_bytes_than_their_bound_are_refused_before_they_are_read():
    with pytest.raises(LinesTooLong):
        lines_of(bytes(LONGEST_TEXT + 1), lambda _: None)


async def test_of_no_rows_there_are_no_lines(database):
    none = table(0)
    statement = select(written_lines(select(none.c.number), within(none, 1, none.c.number)))
    ((written,),) = await database.fetch(Kept(statement, database.dialect), {})
    assert lines_of(written, lambda _: None) == []
