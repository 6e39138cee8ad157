"""The table of event names: the names of a workspace's events, with how often and when they occurred."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger
from sqlmodel import Field, SQLModel

from storage.tables.base import BY_KEY
from storage.types import CodePointText, MomentColumn


class EventNameRow(SQLModel, table=True):
    """A name: its number of events, and the timestamps of the earliest and the latest one."""

    __tablename__ = "event_names"
    __table_args__ = BY_KEY

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    name: str = Field(primary_key=True, sa_type=CodePointText)
    source: str
    occurrences: int = Field(sa_type=BigInteger)
    first_seen: datetime = Field(sa_type=MomentColumn)
    last_seen: datetime = Field(sa_type=MomentColumn)
