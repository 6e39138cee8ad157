"""The table of what has to be counted again after an upgrade."""

from datetime import datetime
from uuid import UUID

from sqlmodel import Field, SQLModel

from storage.types import MomentColumn


class RecountRow(SQLModel, table=True):
    """The totals of all workspaces are counted again, since processes older than `revision` wrote beside it.

    `begun_at` is when the revision ran. The workspaces up to `last`, in the order of ids, are done; `maker`
    does the next one since `claimed_at`.
    """

    __tablename__ = "recounts"

    revision: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    begun_at: datetime = Field(sa_type=MomentColumn)
    last: UUID
    maker: UUID
    claimed_at: datetime | None = Field(default=None, sa_type=MomentColumn)
