"""The `refresh_answers` table: what a public client is told again whose answer was lost."""

from datetime import datetime

from sqlmodel import Field

from storage.tables.base import Row
from storage.types import MomentColumn


class RefreshAnswerRow(Row, table=True):
    """The answer to the use of a refresh token that was replaced, for seconds.

    `hash` is the SHA-256 of the replaced token; `sealed` is the answer, encrypted under that token's text.
    """

    __tablename__ = "refresh_answers"

    hash: str = Field(primary_key=True)
    expires_at: datetime = Field(sa_type=MomentColumn)
    sealed: str
