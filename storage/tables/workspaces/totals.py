"""The tables of totals: how many rows a list has, as a whole and for its common filters."""

from uuid import UUID

from sqlalchemy import BigInteger
from sqlmodel import Field, SQLModel

from storage.tables.base import BY_KEY
from storage.types import CodePointText


class ListTotalRow(SQLModel, table=True):
    """The number of a workspace's rows in `list`, a table's name followed by the columns that are filtered.

    `value` is the columns' values as the database writes them as text, between commas; empty for the list
    as a whole. Where `list` ends with `:bytes`, the total is the bytes of the rows' measured columns.
    """

    __tablename__ = "list_totals"
    __table_args__ = BY_KEY

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    list: str = Field(primary_key=True, sa_type=CodePointText)
    value: str = Field(primary_key=True, sa_type=CodePointText)
    total: int = Field(sa_type=BigInteger)


class ListTotalDeltaRow(SQLModel, table=True):
    """A change of a total that `list_totals` does not hold yet; `id` is the transaction's.

    It has no foreign key: the row that it counts has one, and a check for each delta would cost as much as
    the delta.
    """

    __tablename__ = "list_total_deltas"
    __table_args__ = BY_KEY

    workspace_id: UUID = Field(primary_key=True)
    list: str = Field(primary_key=True, sa_type=CodePointText)
    value: str = Field(primary_key=True, sa_type=CodePointText)
    id: UUID = Field(primary_key=True)
    total: int = Field(sa_type=BigInteger)
