"""What tables share: identity, the moment of creation, and the composite key of a workspace's rows."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID, uuid4

from sqlalchemy import Table
from sqlmodel import Field, ForeignKeyConstraint, SQLModel

from storage.clock import now
from storage.enums import DeletedResource
from storage.types import MomentColumn

Values = dict[str, Any]
# Columns that rows are counted by, for each total.
Counted = tuple[tuple[str, ...], ...]
# SQLite reads and writes small rows by key a third faster if the table is the key's own tree.
BY_KEY = {"sqlite_with_rowid": False}

# Constraints have the same names on both databases, so that a migration can drop them by name.
SQLModel.metadata.naming_convention = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


def table_of(model: type[SQLModel]) -> Table:
    return model.__table__  # type: ignore[attr-defined, no-any-return]


class TimestampedRow(SQLModel):
    """A row with the moment of its creation.

    `folded` maps each folded column to the column that it is computed from: email addresses are folded by
    `storage.emails`, other texts by case. `unique` maps a field of a request to the column whose unique index
    may refuse it, so that an error can name the field.
    """

    folded: ClassVar[dict[str, str]] = {}
    unique: ClassVar[dict[str, str]] = {}

    created_at: datetime = Field(default_factory=now, sa_type=MomentColumn)


class ChangedRow(TimestampedRow):
    """A row of which lists tell what changed since a moment: `changed_at` is that of its last change.

    Its creation counts as a change, unlike for `modified_at`, and so do values that no field shows.
    `tombstone` names the resource whose deletions are recorded.
    """

    tombstone: ClassVar[DeletedResource | None] = None

    changed_at: datetime = Field(default_factory=now, sa_type=MomentColumn)


class DirectoryRow(TimestampedRow):
    """A row outside workspaces, identified by `id`."""

    id: UUID = Field(default_factory=uuid4, primary_key=True)


class TenantRow(TimestampedRow):
    """A row of one workspace: its primary key and foreign keys begin with `workspace_id`.

    `counted` names the totals that are kept of a table: `()` for all of its rows, and the columns that a list
    is filtered by, like `("service",)`. Columns that are filtered together must not hold free text.
    `measured` names columns with texts and metadata that may be long: the sum of their bytes is kept too.
    """

    counted: ClassVar[Counted] = ()
    measured: ClassVar[tuple[str, ...]] = ()

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    id: UUID = Field(default_factory=uuid4, primary_key=True)


def references(column: str, table: str, **options: Any) -> ForeignKeyConstraint:
    """A foreign key within one workspace: no row can refer to a row of another workspace."""
    return ForeignKeyConstraint(["workspace_id", column], [f"{table}.workspace_id", f"{table}.id"], **options)
