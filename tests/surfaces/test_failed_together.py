"""Operations whose statements are read as one: what each is told if that fails.

The database is a stand-in that fails on purpose: a real one fails for other tests too.
"""

from types import SimpleNamespace

import pytest
from sqlalchemy import bindparam, select
from sqlalchemy.dialects.postgresql import dialect

from resolvers.operations.context import Caller, Context
from resolvers.operations.rows.together import run_together
from storage.dialects.json_rows import LinesTooLong, written_lines
from storage.engine.outages import DatabaseUnreachable
from storage.engine.statements.kept import Kept
from storage.rows.rows import table_of
from storage.tables.shares.shares import ShareRow

_shares = table_of(ShareRow)
_LIST = Kept(
    select(written_lines(select(_shares).where(_shares.c.name == bindparam("name")).limit(1), _shares.c.id))
)


class FailingDatabase:
    """Fails with `error` for a statement that is joined of several, and reads each of them alone."""

    dialect = dialect()
    replica = None
    is_sqlite = False

    def __init__(self, error):
        self.error, self.asked = error, []

    async def fetch(self, kept, values, **_):
        self.asked.append(values)
        if kept is not _LIST:
            raise self.error
        if values["name"] == "broken":
            raise ValueError("This one is broken.")
        return [(values["name"].encode(),)]


async def read_three(error, *names):
    """What three operations get, each a row or its error, and what the database was asked."""
    database = FailingDatabase(error)
    ctx = Context(SimpleNamespace(database=database), Caller(None, None, "192.0.2.1", "request"))
    got = []

    def reading(name):
        async def read(ctx):
            try:
                got.append(await ctx.fetch(_LIST, {"name": name}))
            except Exception as raised:
                got.append(raised)
                raise

        return read

    failed = None
    try:
        await run_together(ctx, [reading(name) for name in names])
    except Exception as raised:  # noqa: BLE001 - it is compared
        failed = raised
    return got, failed, database.asked


@pytest.mark.parametrize("error", [DatabaseUnreachable("away"), LinesTooLong()], ids=repr)
async def test_an_outage_and_an_answer_that_is_too_long_are_not_asked_for_again(error):
    got, failed, asked = await read_three(error, "a", "b", "c")
    assert got == [error] * 3
    assert failed is error
    assert asked == [{"0": {"name": "a"}, "1": {"name": "b"}, "2": {"name": "c"}}]


async def test_another_error_is_that_of_the_statement_which_fails_alone_too():
    got, failed, asked = await read_three(ValueError("One of them is broken."), "a", "broken", "c")
    assert (got[0], got[2]) == ([(b"a",)], [(b"c",)])
    assert got[1] is failed
    assert str(failed) == "This one is broken."
    assert len(asked) == 4
