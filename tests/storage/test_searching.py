"""Searching by a part through indexes of trigrams gives what reading every row gives."""

from random import Random
from uuid import UUID, uuid4

import pytest
import pytest_asyncio
from sqlalchemy import select, text

from oauth.principals import Principal, PrincipalKind
from resolvers.customers.customers import LISTING
from resolvers.customers.shapes import CUSTOMER_WITHOUT_MEMBERS
from resolvers.operations.rows.page_forms import PageForm
from storage.clock import now
from storage.dialects.parts import pattern
from storage.emails import fold_email
from storage.engine.database import Database
from storage.engine.statements.kept import Kept
from storage.migrations.run import upgrade
from storage.rows.rows import insert_rows, table_of, update_row
from storage.searching import making, sqlite
from storage.tables.customers.customers import CustomerRow
from storage.tables.workspaces.workspaces import WorkspaceRow
from tests.support.callers.surfaces import GraphQL, Rest
from tests.support.databases.own_databases import named, own_database
from tests.support.databases.templates import sqlite_file
from tests.support.servers.gateways import make_tenant, run_gateway
from tests.support.servers.ports import own_port
from tests.support.servers.postgresql import PostgreSQL, with_contrib

# What folding changes, what LIKE, `fts5` and SQL mean by themselves, and the largest character.
PIECES = [
    *"aAbBzZ01%_/\\'\"*()-. ",
    *"\u00df\u0130\u0131\u00c4\u00e4\u00c9\u00e9\ufb01\u01c6\u03a3\u03c3\u03c2\u0345\U0001f600\U0010ffff",
    *("e\u0301", "AND", "ab", "ABC", "zebra"),
]
table, INDEX = table_of(CustomerRow), "ix_customers_search"
QUESTIONS, MOST = 60, 100
# A row is looked at by an expression that no index has.
SCAN = """
    SELECT email FROM customers WHERE workspace_id = :own AND deleted_at IS NULL AND (
        '' || email_folded LIKE :folded ESCAPE '/' OR '' || email_folded LIKE :name ESCAPE '/'
        OR '' || name_folded LIKE :name ESCAPE '/' OR substr(external_id, 1, :size) = :start
    ) ORDER BY created_at DESC, id DESC
"""
MANY = """
    INSERT INTO customers (created_at, changed_at, workspace_id, id, email, email_folded, email_verified,
        name, name_folded, billing_address, type, metadata)
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)
    SELECT {moment}, {moment}, '{workspace}', {id}, 'v' || n || '@example.com', 'v' || n || '@example.com',
        {false}, 'x', CASE WHEN n % 1000 = 0 THEN 'zebrafish' ELSE 'visitor' || n END, '{{}}', 'individual',
        '{{}}'
    FROM numbers
"""
FOR_SQLITE = {"moment": "'2026-10-31 00:00:00.000000'", "id": "printf('%08x%024x', n, n)", "false": "0"}
FOR_POSTGRESQL = {
    "moment": "TIMESTAMPTZ '2026-10-31 00:00:00Z' + n * INTERVAL '1 s'",
    "id": "gen_random_uuid()",
    "false": "false",
}
USUAL = "enable_seqscan", "enable_indexscan", "enable_indexonlyscan"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """PostgreSQL with the extensions, which takes an index of trigrams for a table of any size."""
    folder = tmp_path_factory.mktemp("contrib")
    for each in (folder, *folder.parents[:2]):
        each.chmod(0o755)
    server = PostgreSQL(folder, own_port(), with_contrib())
    server.create(enable_seqscan="off", enable_indexscan="off", enable_indexonlyscan="off")
    server.start()
    yield server
    server.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """A database that has the indexes."""
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{sqlite_file(tmp_path)}"
    server = request.getfixturevalue("server")
    name = f"own_{uuid4().hex}"
    server.psql(f"CREATE DATABASE {name}")
    return named(server.url, name)


@pytest_asyncio.fixture
async def database(url):
    database = Database(url)
    await upgrade(database)
    yield database
    await database.close()


@pytest_asyncio.fixture
async def gateway(database, url, tmp_path):
    async for running in run_gateway(url, tmp_path / "objects"):
        yield running


def some_text(random, most):
    return "".join(random.choice(PIECES) for _ in range(random.randint(0, most)))


def some_customer(random, workspace_id):
    return {
        "workspace_id": workspace_id,
        "email": f"{some_text(random, 6)}{uuid4().hex[:6]}@{some_text(random, 3)}.test",
        "name": random.choice([None, some_text(random, 8)]),
        "external_id": random.choice([None, some_text(random, 3) + uuid4().hex[:12]]),
    }


async def make_customers(database, random, workspace_id, many):
    """Customers of which some are then changed, deleted, or gone; each change is a transaction."""
    async with database.write() as connection:
        made = [some_customer(random, workspace_id) for _ in range(many)]
        rows = await insert_rows(connection, CustomerRow, made)
    for row in random.sample(rows, many // 4):
        email = f"{some_text(random, 6)}{uuid4().hex[:6]}@x.test"
        changes = random.choice([{"name": some_text(random, 8)}, {"email": email}, {"deleted_at": now()}])
        async with database.write() as connection:
            await update_row(connection, CustomerRow, row, **changes)
    async with database.write() as connection:
        for row in random.sample(rows, many // 10):
            await connection.execute(table.delete().where(table.c.id == row.id))


async def found_by_scan(database, workspace_id, part):
    """The emails of customers that reading every row finds, newest first."""
    parts = {"folded": fold_email(part), "name": part.casefold()}
    values = {
        **{name: pattern(value) for name, value in parts.items()},
        "own": workspace_id.hex if database.is_sqlite else workspace_id,
        "start": part,
        "size": len(part),
    }
    async with database.read() as connection:
        return list((await connection.execute(text(SCAN), values)).scalars())


async def plan_of(connection, workspace_id, part):
    """How the database runs the list of customers with this part."""
    principal = Principal(PrincipalKind.WORKSPACE_TOKEN, uuid4(), frozenset(), workspace_id)
    chosen, is_sqlite = LISTING.filters["query"], connection.dialect.name == "sqlite"
    form = chosen.form(part)
    search = "query" if is_sqlite and chosen.candidates(form) else None
    filters = (("query", form),)
    asked = PageForm(
        *(LISTING, CUSTOMER_WITHOUT_MEMBERS, frozenset(), None, filters, (), 10),
        is_counted=True,
        is_continued=True,
        nulls_in_place=None,
        is_late=False,
        is_in_change=False,
        search=search,
    )
    kept = Kept(asked.statement(principal), connection.dialect).on(connection.dialect)
    values = {**principal.ids, "skipped": 0, **chosen.named_values("query", part)}
    explain = "EXPLAIN QUERY PLAN" if is_sqlite else "EXPLAIN"
    rows = await connection.exec_driver_sql(f"{explain} {kept.text}", tuple(kept.arguments(values)))
    return "\n".join(str(row[-1]) for row in rows)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
async def test_the_index_finds_exactly_what_reading_every_row_finds(gateway, seed):
    random, tenant = Random(seed), await make_tenant(gateway)
    database, workspace_id = gateway.database, UUID(tenant.id)
    callers = [kind(gateway.client, gateway.app, tenant.token) for kind in (Rest, GraphQL)]
    for _ in range(3):
        await make_customers(database, random, workspace_id, 100)
        async with database.read() as connection:
            texts = (await connection.execute(select(table.c.name, table.c.email, table.c.external_id))).all()
        for _ in range(QUESTIONS // 3):
            whole = random.choice([some_text(random, 4), *filter(None, random.choice(texts))])
            start = random.randint(0, len(whole))
            part = whole[start : start + random.randint(1, 9)]
            if not part.strip():
                continue
            expected = await found_by_scan(database, workspace_id, part)
            answer = await random.choice(callers).list_customers(query=part, limit=MOST)
            assert [item["email"] for item in answer["data"]] == expected[:MOST], part
            assert answer["meta"]["total"] == len(expected), part


async def test_a_rare_part_is_found_by_the_index_and_what_many_rows_have_is_not(database):
    workspace_id = uuid4()
    own = FOR_SQLITE if database.is_sqlite else FOR_POSTGRESQL
    async with database.write() as connection:
        await insert_rows(connection, WorkspaceRow, [{"id": workspace_id, "name": "A", "slug": "a"}])
        await connection.exec_driver_sql(MANY.format(workspace=workspace_id.hex, **own))
    async with database.read() as connection:
        if database.is_sqlite:
            plan = await plan_of(connection, workspace_id, "zebrafish")
            assert f"SCAN {INDEX} VIRTUAL TABLE" in plan
            by_key = "sqlite_autoindex_customers_1 (workspace_id=? AND id>? AND id<?)"
            assert f"SEARCH customers USING INDEX {by_key}" in plan
            assert INDEX not in await plan_of(connection, workspace_id, "ze")
            return
        for name in USUAL:
            await connection.exec_driver_sql(f"SET {name} = on")
        await connection.exec_driver_sql("VACUUM ANALYZE customers")
        plan = await plan_of(connection, workspace_id, "zebrafish")
        # For the total and for the page.
        assert plan.count(f"Bitmap Index Scan on {INDEX}") == 4
        for part in ("ze", "@example.com"):
            assert INDEX not in await plan_of(connection, workspace_id, part)


async def test_postgresql_keeps_no_plan_of_a_search(postgresql_url, tmp_path):
    """A kept plan would be the same for rare and for common parts."""
    async for gateway in run_gateway(await own_database(postgresql_url, tmp_path), tmp_path / "objects"):
        tenant = await make_tenant(gateway)
        rest = Rest(gateway.client, gateway.app, tenant.token)
        for number in range(8):
            await rest.list_customers(query=f"zebra{number}")
        async with gateway.database.read() as connection:
            kept = (await connection.exec_driver_sql("SELECT statement FROM pg_prepared_statements")).all()
        assert not [statement for (statement,) in kept if "email_folded LIKE" in statement]


async def test_an_index_that_is_gone_is_made_again(database):
    workspace_id = uuid4()
    async with database.write() as connection:
        await insert_rows(connection, WorkspaceRow, [{"id": workspace_id, "name": "A", "slug": "a"}])
        if database.is_sqlite:
            await connection.exec_driver_sql(f"DROP TRIGGER {INDEX}_insert")
        else:
            await connection.exec_driver_sql(f"DROP INDEX {INDEX}")
        customer = {"workspace_id": workspace_id, "email": "ada@example.com", "name": "Ada Lovelace"}
        await insert_rows(connection, CustomerRow, [customer])
    assert not await making.is_made(database)
    await making.make(database, lambda _: None)
    if not database.is_sqlite:
        async with database.write() as connection:
            # As an interrupted build leaves it.
            unusable = f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{INDEX}'::regclass"
            await connection.exec_driver_sql(unusable)
        assert not await making.is_made(database)
        await making.make(database, lambda _: None)
    assert await making.is_made(database)
    assert await making.lack(database) is None
    if database.is_sqlite:
        async with database.read() as connection:
            query = sqlite.trigrams("lovelace")
            found = await connection.exec_driver_sql(
                f"SELECT count(*) FROM {INDEX} WHERE {INDEX} MATCH ?", (query,)
            )
            assert found.scalar_one() == 1


async def test_where_there_are_no_extensions_searching_reads_every_row_and_says_so(postgresql_url, tmp_path):
    database = Database(await own_database(postgresql_url, tmp_path))
    await making.make(database, lambda _: None)
    assert not await making.is_made(database)
    assert "install the extensions pg_trgm and btree_gin" in await making.lack(database)
    await database.close()


async def test_where_the_role_may_not_create_extensions_what_to_do_is_said(server):
    """Whoever may owns the database, or is a superuser."""
    role, name = f"role_{uuid4().hex}", f"own_{uuid4().hex}"
    for statement in (f"CREATE ROLE {role} LOGIN", f"CREATE DATABASE {name}"):
        server.psql(statement)
    url = named(server.url, name).replace("postgres:@", f"{role}:@")
    database = Database(url)
    await making.make(database, lambda _: None)
    lacking = await making.lack(database)
    assert "let the role create the extensions pg_trgm and btree_gin" in lacking
    assert "run `duograph migrate`" in lacking
    await database.close()


async def test_without_fts5_changes_go_on_and_every_row_is_read(tmp_path, monkeypatch):
    """As if the file were opened by a Python whose SQLite was built without it."""
    database = Database(f"sqlite+aiosqlite:///{sqlite_file(tmp_path)}")
    monkeypatch.setattr(sqlite, "has_trigrams", lambda: False)
    assert not await making.is_made(database)
    await making.make(database, lambda _: None)
    assert await making.is_made(database)
    assert "fts5" in await making.lack(database)
    async with database.read() as connection:
        triggers = await connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        assert not triggers.all()
    assert not sqlite.has_indexes(str(database.engine.url.database))
    await database.close()
