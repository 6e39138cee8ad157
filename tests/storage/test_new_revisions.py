"""Revisions to come: what is written of changed tables, and of a table of workspaces on a cluster."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate.api import AutogenContext
from alembic.autogenerate.render import _render_cmd_body
from alembic.operations import Operations
from alembic.operations.ops import (
    AddColumnOp,
    CreateTableOp,
    DowngradeOps,
    DropColumnOp,
    MigrationScript,
    ModifyTableOps,
    UpgradeOps,
)
from alembic.runtime.migration import MigrationContext
from sqlalchemy import (
    Column,
    ForeignKeyConstraint,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Uuid,
    inspect,
)

from storage.migrations import run
from storage.migrations.revise import complete
from storage.migrations.tenant_tables import create_tenant_table
from storage.workspaces.distribution import COLUMN, REFERENCE

VERSIONS = Path(run.__file__).parent / "versions"
# Later ones distribute what they make.
LAST_UNCHECKED = "0036"
MADE_BY_ALEMBIC = """
def upgrade():
    op.create_table('notes', sa.Column('id', sa.Uuid()), sa.PrimaryKeyConstraint('workspace_id', 'id'))
    op.create_table('keys', sa.Column('workspace_id', sa.Uuid()), sa.PrimaryKeyConstraint('id'))
    op.create_table('marks', sa.Column('workspace_id', sa.Uuid(), primary_key=True))
    create_tenant_table('pages', sa.PrimaryKeyConstraint('workspace_id', 'id'))
"""


def undistributed(source: str) -> Iterator[str]:
    """The tables of workspaces that a revision makes by `op.create_table`."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "op.create_table":
            name, *parts = call.args
            if any(is_in_the_key(part) for part in parts):
                yield ast.literal_eval(name)


def is_in_the_key(part: ast.expr) -> bool:
    if not isinstance(part, ast.Call):
        return False
    names = [each.value for each in part.args if isinstance(each, ast.Constant)]
    by_column = any(each.arg == "primary_key" for each in part.keywords)
    return COLUMN in names and (by_column or ast.unparse(part.func).endswith("PrimaryKeyConstraint"))


def test_no_later_revision_makes_a_table_of_workspaces_that_a_cluster_does_not_know():
    assert list(undistributed(MADE_BY_ALEMBIC)) == ["notes", "marks"]
    made = {
        path.name: tables
        for path in VERSIONS.glob("*.py")
        if path.name[:4] > LAST_UNCHECKED and (tables := list(undistributed(path.read_text())))
    }
    assert not made, f"Make them by `create_tenant_table` of storage/migrations/tenant_tables.py: {made}"


def written(table: Table) -> tuple[set[str], str]:
    """The imports and the body of the revision that makes the table."""
    script = MigrationScript("0099", UpgradeOps([CreateTableOp.from_table(table)]), DowngradeOps())
    complete(None, None, [script])
    options = {"alembic_module_prefix": "op.", "sqlalchemy_module_prefix": "sa.", "user_module_prefix": None}
    context = AutogenContext(
        MigrationContext.configure(dialect_name="sqlite"),
        opts=options | {"render_as_batch": True, "render_item": None},
    )
    return context.imports, _render_cmd_body(script.upgrade_ops, context)


@pytest.mark.parametrize("options", [{}, {"sqlite_with_rowid": False}], ids=["as it is", "by key"])
def test_a_new_table_of_workspaces_is_written_as_one(options):
    parts = Column(COLUMN, Uuid()), Column("id", Uuid()), Column("count", Integer())
    key = PrimaryKeyConstraint(COLUMN, "id", name="pk_notes")
    imports, body = written(Table("notes", MetaData(), *parts, key, **options))
    assert imports == {"from storage.migrations.tenant_tables import create_tenant_table"}
    assert "create_tenant_table('notes'," in body
    assert "op.create_table" not in body
    assert ("sqlite_with_rowid=False" in body) is bool(options)


def test_another_new_table_is_written_as_alembic_does():
    imports, body = written(Table("keys", MetaData(), Column("id", Uuid(), primary_key=True)))
    assert imports == set()
    assert "op.create_table('keys'," in body


def test_a_column_that_may_be_empty_gets_no_default_and_other_changes_stay_as_they_are():
    new = Column("new", Integer(), nullable=True)
    filled = Column("filled", Integer(), nullable=False, server_default="7")
    operations = [DropColumnOp("shares", "old"), *(AddColumnOp("shares", each) for each in (new, filled))]
    script = MigrationScript("0099", UpgradeOps([ModifyTableOps("shares", operations)]), DowngradeOps())
    complete(None, None, [script])
    assert script.upgrade_ops.ops[0].ops == operations
    assert new.server_default is None
    assert filled.server_default.arg == "7"


# What a revision asks of Citus, which refuses a table that refers to another of workspaces.
# tests/cluster asks Citus itself.
CITUS = (
    f"CREATE TABLE {REFERENCE} (id uuid PRIMARY KEY)",
    f"CREATE TABLE owners ({COLUMN} uuid, id uuid, PRIMARY KEY ({COLUMN}, id))",
    'CREATE TABLE pg_dist_partition (logicalrelid regclass, partmethod "char")',
    f"INSERT INTO pg_dist_partition VALUES ('{REFERENCE}', 'n'), ('owners', 'h')",
    """CREATE FUNCTION create_distributed_table(name text, col text, colocate_with text) RETURNS void
    LANGUAGE plpgsql AS $$ BEGIN
        ASSERT NOT EXISTS (SELECT FROM pg_constraint
            WHERE conrelid = name::regclass AND contype = 'f' AND cardinality(conkey) > 1);
        ASSERT col = 'workspace_id' AND colocate_with = 'owners';
        INSERT INTO pg_dist_partition VALUES (name::regclass, 'h');
    END $$""",
)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True, scope="session")
@pytest.mark.parametrize("is_distributed", [True, False])
async def test_a_table_of_workspaces_is_distributed_before_it_refers_to_others(empty, is_distributed):
    parts = (
        *(Column(name, Uuid()) for name in (COLUMN, "id", "owner_id")),
        PrimaryKeyConstraint(COLUMN, "id"),
        ForeignKeyConstraint([COLUMN], [f"{REFERENCE}.id"], name="fk_home", ondelete="CASCADE"),
        ForeignKeyConstraint([COLUMN, "owner_id"], [f"owners.{COLUMN}", "owners.id"], name="fk_owner"),
    )

    def make(connection):
        with Operations.context(MigrationContext.configure(connection)):
            create_tenant_table("notes", *parts)
        return {key["name"]: key for key in inspect(connection).get_foreign_keys("notes")}

    async with empty.write() as connection:
        for statement in CITUS if is_distributed else CITUS[:2]:
            await connection.exec_driver_sql(statement)
        keys = await connection.run_sync(make)
        if is_distributed:
            distributed = "SELECT partmethod FROM pg_dist_partition WHERE logicalrelid = 'notes'::regclass"
            assert (await connection.exec_driver_sql(distributed)).scalars().all() == [b"h"]
    assert {name: (key["constrained_columns"], key["referred_table"]) for name, key in keys.items()} == {
        "fk_home": ([COLUMN], REFERENCE),
        "fk_owner": ([COLUMN, "owner_id"], "owners"),
    }
    assert keys["fk_owner"]["referred_columns"] == [COLUMN, "id"]
    assert keys["fk_home"]["options"] == {"ondelete": "CASCADE"}
