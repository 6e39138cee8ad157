"""The tables of the number of events by day and hour, and of events that are not in the totals yet."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger
from sqlmodel import Field, SQLModel

from storage.tables.base import BY_KEY
from storage.types import CodePointText, MomentColumn

# No event has this name.
ALL_NAMES = ""


class EventCountRow(SQLModel, table=True):
    """The number of events of a name, or of `ALL_NAMES`, in the `period` of UTC that begins at `begins`.

    The periods are those of `storage.dialects.periods`.
    """

    __tablename__ = "event_counts"
    __table_args__ = BY_KEY

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    name: str = Field(primary_key=True, sa_type=CodePointText)
    period: str = Field(primary_key=True)
    begins: datetime = Field(primary_key=True, sa_type=MomentColumn)
    occurrences: int = Field(sa_type=BigInteger)


class EventDeltaRow(SQLModel, table=True):
    """Events of a name in an hour that `event_names` and `event_counts` do not hold yet.

    `id` is the transaction's.
    """

    __tablename__ = "event_deltas"
    __table_args__ = BY_KEY

    workspace_id: UUID = Field(primary_key=True)
    name: str = Field(primary_key=True, sa_type=CodePointText)
    hour: datetime = Field(primary_key=True, sa_type=MomentColumn)
    id: UUID = Field(primary_key=True)
    source: str
    occurrences: int = Field(sa_type=BigInteger)
    first_seen: datetime = Field(sa_type=MomentColumn)
    last_seen: datetime = Field(sa_type=MomentColumn)
