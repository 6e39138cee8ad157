"""The `usage_counts` table: what the clients of workspaces used of the API on each day."""

from datetime import date, datetime
from uuid import UUID

from sqlalchemy import BigInteger, Index
from sqlmodel import Field, SQLModel

from storage.types import CodePointText, MomentColumn


class UsageRow(SQLModel, table=True):
    """How many requests of a client used one part of the contract on a day in UTC.

    `client_id` is that of the OAuth client or the workspace's token; customers' sessions and clients beyond
    the limit of a day have the workspace's id instead. `name` is the part's coordinate in its surface.
    """

    __tablename__ = "usage_counts"
    __table_args__ = (Index("ix_usage_counts_day", "day"),)

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    day: date = Field(primary_key=True)
    client_kind: str = Field(primary_key=True)
    client_id: UUID = Field(primary_key=True)
    surface: str = Field(primary_key=True)
    name: str = Field(primary_key=True, sa_type=CodePointText)
    kind: str
    is_deprecated: bool
    requests: int = Field(sa_type=BigInteger)
    last_used_at: datetime = Field(sa_type=MomentColumn)
