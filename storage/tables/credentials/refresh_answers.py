"""The `refresh_answers` table: answers repeated for public clients that lost them."""

from datetime import datetime

from sqlmodel import Field

from storage.tables.base import TimestampedRow
from storage.types import MomentColumn


class RefreshAnswerRow(TimestampedRow, table=True):
    """The answer to a refresh token that was replaced, kept for seconds.

    `hash` is the SHA-256 of the replaced token; `sealed` is the answer, encrypted with that token's text.
    """

    __tablename__ = "refresh_answers"

    hash: str = Field(primary_key=True)
    expires_at: datetime = Field(index=True, sa_type=MomentColumn)
    sealed: str
