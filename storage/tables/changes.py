"""The table of the change log."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, Index, text
from sqlmodel import Field, SQLModel

from storage.tables.base import BY_KEY
from storage.types import MomentColumn

# By the name of the index that finds them.
WAITING = text("position IS NULL")


class ChangeRow(SQLModel, table=True):
    """A change of a workspace's resource, written in the transaction that made it.

    `position` numbers the changes of a workspace from 1, without gaps; it is null until the fold has numbered
    the change, except on SQLite, whose one writer numbers it at once. `resource_id` is null for what was
    ingested, whose number is `count`. If a transaction has changed metrics, one of its changes has in
    `measured_from` the earliest moment that it measured, in microseconds since 1970. The workspace has no
    foreign key, as in `list_total_deltas`.
    """

    __tablename__ = "changes"
    __table_args__ = (
        Index("uq_changes_position", "workspace_id", "position", unique=True),
        Index("ix_changes_waiting", "workspace_id", "at", sqlite_where=WAITING, postgresql_where=WAITING),
        Index("ix_changes_at", "at"),
        BY_KEY,
    )

    workspace_id: UUID = Field(primary_key=True)
    id: UUID = Field(default_factory=uuid4, primary_key=True)
    position: int | None = Field(default=None, sa_type=BigInteger)
    kind: str
    resource_id: UUID | None = None
    at: datetime = Field(sa_type=MomentColumn, sa_column_kwargs={"info": {"clock": True}})
    actor_kind: str
    actor_id: UUID | None = None
    count: int | None = None
    measured_from: int | None = Field(default=None, sa_type=BigInteger)
