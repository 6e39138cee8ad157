"""Revisions to come: a table of workspaces is distributed on a cluster as it is made."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate.api import AutogenContext
from alembic.autogenerate.render import _render_cmd_body
from alembic.operations.ops import CreateTableOp, DowngradeOps, MigrationScript, UpgradeOps
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Column, Integer, MetaData, PrimaryKeyConstraint, Table, Uuid

from storage.migrations import run
from storage.migrations.revise import complete
from storage.workspaces.distribution import COLUMN

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
