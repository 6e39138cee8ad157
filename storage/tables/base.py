"""What tables have in common: identity, moments, and the tenant's composite key."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID, uuid4

from sqlmodel import Field, ForeignKeyConstraint, SQLModel

from storage.clock import now
from storage.types import MomentColumn

# Names of constraints, the same on both databases, so that a migration can name what it drops.
SQLModel.metadata.naming_convention = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Row(SQLModel):
    """A row with an identity of its own.

    `folded` maps a stored, folded column to the column it follows: addresses by `storage.emails`, others
    by case. `unique` maps a field that a
    caller sends to the column whose unique index may refuse it, so that a refusal can be named.
    """

    folded: ClassVar[dict[str, str]] = {}
    unique: ClassVar[dict[str, str]] = {}

    created_at: datetime = Field(default_factory=now, sa_type=MomentColumn)


class DirectoryRow(Row):
    """A row outside every workspace, found by `id`."""

    id: UUID = Field(default_factory=uuid4, primary_key=True)


class TenantRow(Row):
    """A row of one workspace: the primary key begins with `workspace_id`, foreign keys too."""

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    id: UUID = Field(default_factory=uuid4, primary_key=True)


def references(column: str, table: str, **options: Any) -> ForeignKeyConstraint:
    """A foreign key to another table of the same workspace: no row can point across workspaces."""
    return ForeignKeyConstraint(["workspace_id", column], [f"{table}.workspace_id", f"{table}.id"], **options)
