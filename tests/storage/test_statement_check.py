"""The check of every statement that tests cause: what it finds, and that it finds it."""

import importlib
from contextlib import suppress
from functools import reduce

import pytest
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from storage.engine.database import Database
from storage.engine.statements.kept import Kept
from storage.rows.rows import table_of
from storage.tables.shares.shares import ShareRow

pytest.importorskip("pglast", reason="`make setup` adds pglast to the .venv.")

from tests.support.statements.statement_check import ROOT
from tests.support.statements.statement_exceptions import REACHES
from tests.support.statements.tenant_statements import complaints_about

NAMED = [
    "SELECT name FROM shares WHERE shares.workspace_id = $1::UUID AND shares.id = $2",
    "SELECT name FROM shares WHERE workspace_id = ANY ($1::UUID[]) ORDER BY id LIMIT 5",
    "SELECT name FROM shares AS s WHERE s.workspace_id IN ($1, $2)",
    "SELECT name FROM shares WHERE (workspace_id = $1 AND id = $2) OR (id = $3 AND workspace_id = $4)",
    "SELECT 1 FROM shares s JOIN files f ON f.workspace_id = s.workspace_id WHERE s.workspace_id = $1",
    "SELECT 1 FROM shares s LEFT JOIN files f ON f.workspace_id = s.workspace_id WHERE s.workspace_id = $1",
    "SELECT 1 FROM shares s, workspaces w WHERE w.id = $1 AND s.workspace_id = w.id",
    "SELECT (SELECT count(*) FROM files f WHERE f.workspace_id = s.workspace_id) FROM shares s "
    "WHERE s.workspace_id = ANY ($1)",
    "SELECT a.n FROM (SELECT workspace_id, name AS n FROM shares WHERE workspace_id = $1) AS a "
    "JOIN files ON files.workspace_id = a.workspace_id",
    "SELECT (SELECT count(*) FROM files f WHERE f.workspace_id = $1) FROM "
    "(SELECT workspace_id FROM shares WHERE workspace_id = $1 LIMIT 5) AS page",
    "WITH own AS (SELECT * FROM shares WHERE workspace_id = $1) SELECT 1 FROM own",
    "SELECT 1 FROM shares WHERE (workspace_id, id) IN "
    "(SELECT workspace_id, id FROM files WHERE workspace_id = $1)",
    "SELECT id FROM shares WHERE workspace_id = $1 UNION ALL SELECT id FROM files WHERE workspace_id = $1",
    "SELECT 1 FROM shares WHERE workspace_id IN ($1) FOR UPDATE",
    "UPDATE shares SET name = $1 WHERE workspace_id = $2 RETURNING id",
    "DELETE FROM files USING shares s WHERE s.workspace_id = files.workspace_id AND files.workspace_id = $1",
    "INSERT INTO shares (workspace_id, id) SELECT a, b FROM unnest($1::uuid[], $2::uuid[]) AS n (a, b)",
    "INSERT INTO shares (workspace_id, id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    "SELECT name FROM shares WHERE false",
    "SELECT name FROM users",
    "CREATE INDEX here ON shares (name)",
]
# What is wrong, with the statements in which it is.
UNNAMED = {
    "reads shares without naming workspaces": [
        "SELECT name FROM shares",
        "SELECT name FROM shares WHERE workspace_id > $1",
        "SELECT name FROM shares WHERE workspace_id = $1 OR id = $2",
        "SELECT 1 FROM shares WHERE workspace_id IN (SELECT workspace_id FROM "
        "workspace_members WHERE user_id = $1)",
        "SELECT 1 FROM shares s LEFT JOIN files f ON f.workspace_id = s.workspace_id "
        "WHERE f.workspace_id = $1",
        "WITH every AS (SELECT * FROM shares) SELECT 1 FROM every WHERE workspace_id = $1",
    ],
    "reads files without naming workspaces": [
        "SELECT 1 FROM shares s JOIN files f ON f.id = s.id WHERE s.workspace_id = $1",
        "SELECT EXISTS (SELECT 1 FROM files) FROM shares WHERE workspace_id = $1",
        "SELECT (SELECT count(*) FROM files f WHERE f.workspace_id = page.workspace_id) FROM "
        "(SELECT workspace_id FROM shares WHERE workspace_id = $1 LIMIT 5) AS page",
        "SELECT 1 FROM (SELECT workspace_id FROM shares WHERE workspace_id = $1 LIMIT 5) AS page "
        "JOIN files ON files.workspace_id = page.workspace_id",
        "SELECT id FROM shares WHERE workspace_id = $1 UNION SELECT id FROM files",
        "INSERT INTO shares (workspace_id) SELECT workspace_id FROM files",
    ],
    "reads files apart, beside several workspaces": [
        "SELECT EXISTS (SELECT 1 FROM files WHERE workspace_id = ANY ($1)) FROM shares "
        "WHERE workspace_id = ANY ($1)",
    ],
    "locks shares without naming one workspace": [
        "SELECT 1 FROM shares WHERE workspace_id = ANY ($1) FOR UPDATE",
    ],
    "changes shares without naming one workspace": [
        "UPDATE shares SET name = $1 WHERE id = $2",
        "UPDATE shares SET name = $1 WHERE workspace_id IN ($2, $3)",
        "DELETE FROM shares",
    ],
    "inserts into shares without workspace_id": [
        "INSERT INTO shares (id, name) VALUES ($1, $2)",
    ],
}
CARELESS = """

async def run_kept(database, every_share):
    await database.fetch(Kept(every_share), {})

async def run(database, every_share):
    async with database.read() as connection:
        await connection.execute(every_share)
"""


@pytest.mark.parametrize("text", NAMED)
def test_a_statement_that_names_its_workspaces_passes(text):
    assert complaints_about(text) == []


@pytest.mark.parametrize(
    ("text", "complaint"), [(text, complaint) for complaint, texts in UNNAMED.items() for text in texts]
)
def test_a_statement_that_does_not_is_found(text, complaint):
    assert [str(each) for each in complaints_about(text)] == [complaint]


@pytest.mark.parametrize("function", ["run", "run_kept"])
async def test_every_way_to_the_database_is_watched(function, postgresql_url, statement_check):
    """The code is that of a module of the project: what tests ask by themselves is not looked at."""
    module = {"Kept": Kept}
    exec(compile(CARELESS, str(ROOT / "resolvers" / "careless.py"), "exec"), module)
    database = Database(postgresql_url)
    # There may be no tables yet: the statement is looked at before it runs.
    with suppress(DBAPIError):
        await module[function](database, select(table_of(ShareRow).c.id))
    await database.close()
    (found,) = [each for each in statement_check.take() if "careless" in each]
    assert found.startswith(f"resolvers/careless.py, {function}: reads shares without naming workspaces:\n")


def test_exceptions_name_functions_that_exist():
    for reach in REACHES:
        if reach.function is not None:
            module = importlib.import_module(reach.module.removesuffix(".py").replace("/", "."))
            assert callable(reduce(getattr, reach.function.split("."), module))
