"""Every key of a tenant table has the workspace: a cluster takes no other."""

import pytest
from sqlalchemy import ForeignKeyConstraint, UniqueConstraint

from storage.tables.registry import METADATA
from storage.workspaces.distribution import COLUMN, REFERENCE, TENANT_TABLES

pytestmark = pytest.mark.parametrize("table", TENANT_TABLES, ids=lambda table: table.name)


def test_the_primary_key_begins_with_the_workspace(table):
    assert next(iter(table.primary_key.columns)).name == COLUMN


def test_every_unique_key_has_the_workspace(table):
    constraints = [each for each in table.constraints if isinstance(each, UniqueConstraint)]
    # Partial ones are indexes too.
    indexes = [index for index in table.indexes if index.unique]
    for key in [*constraints, *indexes]:
        assert COLUMN in [column.name for column in key.columns], key.name


def test_every_foreign_key_has_the_workspace(table):
    """To another tenant table it leads within the workspace; other tables are not on the same node."""
    tenants = set(TENANT_TABLES)
    for key in table.constraints:
        if isinstance(key, ForeignKeyConstraint):
            pairs = [(element.parent.name, element.column.name) for element in key.elements]
            if key.referred_table in tenants:
                assert (COLUMN, COLUMN) in pairs, key
            else:
                assert (key.referred_table.name, pairs) == (REFERENCE, [(COLUMN, "id")])


def test_no_other_table_refers_to_it(table):
    """Tables outside workspaces stay on the coordinator, which cannot refer to rows on other nodes."""
    others = [each for each in METADATA.tables.values() if each not in TENANT_TABLES]
    keys = [key for each in others for key in each.foreign_key_constraints]
    assert table not in [key.referred_table for key in keys]
