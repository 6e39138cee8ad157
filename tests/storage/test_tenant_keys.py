"""Every key of a tenant table has the workspace: a cluster takes no other."""

from sqlalchemy import ForeignKeyConstraint, UniqueConstraint

from storage.tables.registry import METADATA
from storage.workspaces.distribution import COLUMN, REFERENCE, TENANT_TABLES


def test_the_primary_key_begins_with_the_workspace():
    first = {table.name: next(iter(table.primary_key.columns)).name for table in TENANT_TABLES}
    assert {name: column for name, column in first.items() if column != COLUMN} == {}


def test_every_unique_key_has_the_workspace():
    without = []
    for table in TENANT_TABLES:
        constraints = [each for each in table.constraints if isinstance(each, UniqueConstraint)]
        # Partial ones are indexes too.
        indexes = [index for index in table.indexes if index.unique]
        keys = [*constraints, *indexes]
        without += [(table.name, key.name) for key in keys if COLUMN not in [c.name for c in key.columns]]
    assert without == []


def test_every_foreign_key_has_the_workspace():
    """To another tenant table it leads within the workspace; other tables are not on the same node."""
    faults = []
    for key in foreign_keys(TENANT_TABLES):
        pairs = [(element.parent.name, element.column.name) for element in key.elements]
        if key.referred_table in TENANT_TABLES:
            leads_within = (COLUMN, COLUMN) in pairs
        else:
            leads_within = (key.referred_table.name, pairs) == (REFERENCE, [(COLUMN, "id")])
        if not leads_within:
            faults.append((key.table.name, pairs))
    assert faults == []


def test_no_other_table_refers_to_one_of_a_workspace():
    """Tables outside workspaces stay on the coordinator, which cannot refer to rows on other nodes."""
    others = [table for table in METADATA.tables.values() if table not in TENANT_TABLES]
    keys = foreign_keys(others)
    assert [
        (key.table.name, key.referred_table.name) for key in keys if key.referred_table in TENANT_TABLES
    ] == []


def foreign_keys(tables):
    return [key for table in tables for key in table.constraints if isinstance(key, ForeignKeyConstraint)]
