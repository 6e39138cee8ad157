"""Tables of workspaces in revisions: on a cluster they are distributed as they are made."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from storage.workspaces.distribution import COLUMN, REFERENCE

_HAS_CITUS = "SELECT to_regclass('pg_dist_partition') IS NOT NULL"
# The view `citus_tables` would ask for the sizes of all tables by other connections, and would wait for ever
# for those that this transaction has locked.
_DISTRIBUTED = """
    SELECT min(logicalrelid::text) FROM pg_dist_partition WHERE partmethod = 'h'
    AND EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = CAST(:reference AS regclass))
"""
_DISTRIBUTE = "SELECT create_distributed_table(:name, :column, colocate_with => :first)"


def create_tenant_table(name: str, *parts: Any, **options: Any) -> None:
    """Create a table of workspaces, as `op.create_table` does from columns, named constraints and options.

    Citus does not distribute a table that refers to another distributed one: on a cluster these foreign keys
    are added afterwards.
    """
    connection = op.get_bind()
    first = _distributed_table(connection)
    if first is None:
        op.create_table(name, *parts, **options)
        return
    op.create_table(name, *(part for part in parts if not _leads_to_tenants(part)), **options)
    connection.execute(sa.text(_DISTRIBUTE), {"name": name, "column": COLUMN, "first": first})
    for key in filter(_leads_to_tenants, parts):
        targets = [element.target_fullname.rpartition(".") for element in key.elements]
        table, columns = targets[0][0], [column for _, _, column in targets]
        op.create_foreign_key(key.name, name, table, key.column_keys, columns, ondelete=key.ondelete)


def _distributed_table(connection: sa.Connection) -> str | None:
    """A table to be colocated with; None if the database is not distributed."""
    if connection.dialect.name != "postgresql" or not connection.scalar(sa.text(_HAS_CITUS)):
        return None
    first: str | None = connection.scalar(sa.text(_DISTRIBUTED), {"reference": REFERENCE})
    return first


def _leads_to_tenants(part: Any) -> bool:
    return isinstance(part, sa.ForeignKeyConstraint) and len(part.elements) > 1
