"""The `sign_in_attempts` table: wrong passwords in a row."""

from datetime import datetime

from sqlmodel import Field, SQLModel

from storage.types import MomentColumn


class SignInAttemptRow(SQLModel, table=True):
    """The attempts of one subject: an email address, a known browser, or a session.

    `subject` is a keyed digest, so that no address can be read here. `slot` is a number below 65,536 derived
    from it: the table never has more rows, and a subject replaces another one in the same slot.
    """

    __tablename__ = "sign_in_attempts"

    slot: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    subject: str
    failures: int = 0
    attempted_at: datetime = Field(sa_type=MomentColumn)
    notified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
