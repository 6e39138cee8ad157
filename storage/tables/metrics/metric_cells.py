"""Cells: sums and persons of the log over a quarter hour to eight days, and deltas not yet in them."""

from uuid import UUID

from sqlalchemy import BigInteger, LargeBinary
from sqlmodel import Field, SQLModel

from storage.tables.base import BY_KEY

NO_SHARE = UUID(int=0)


def _sum() -> int:
    return Field(default=0, sa_type=BigInteger)  # type: ignore[no-any-return]


class MetricDeltaRow(SQLModel, table=True):
    """A copy of a fact that the cells do not hold yet: written with the fact, deleted by the fold.

    It may stand for several equal facts of one transaction, with the sum of their counts.
    """

    __tablename__ = "metric_deltas"
    __table_args__ = BY_KEY

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    id: UUID = Field(primary_key=True)
    moment: int = Field(sa_type=BigInteger)
    kind: str
    share_id: UUID | None = None
    person: int | None = None
    currency: str | None = None
    count: int
    bytes: int = Field(sa_type=BigInteger)
    amount: int = Field(sa_type=BigInteger)
    fee: int = Field(sa_type=BigInteger)
    parts: int = Field(sa_type=BigInteger)


class ActivityCellRow(SQLModel, table=True):
    """The sums of facts, except money, over `grain` seconds from `at` (microseconds since 1970).

    `share_id` is `NO_SHARE` for the workspace as a whole. Columns are named after the kind of fact and the
    summed column; `storage/metrics/sums.py` describes the halves.
    """

    __tablename__ = "metric_activity_cells"
    __table_args__ = BY_KEY

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    share_id: UUID = Field(primary_key=True)
    grain: int = Field(primary_key=True)
    at: int = Field(primary_key=True, sa_type=BigInteger)
    free_session_count: int = _sum()
    free_session_bytes_high: int = _sum()
    free_session_bytes_low: int = _sum()
    priced_session_count: int = _sum()
    priced_session_bytes_high: int = _sum()
    priced_session_bytes_low: int = _sum()
    conversion_count: int = _sum()
    download_count: int = _sum()
    activation_count: int = _sum()
    deactivation_count: int = _sum()
    completion_count: int = _sum()
    expiry_count: int = _sum()
    event_count: int = _sum()


class MoneyCellRow(SQLModel, table=True):
    """The sums of facts with a currency, as in `ActivityCellRow`."""

    __tablename__ = "metric_money_cells"
    __table_args__ = BY_KEY

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    share_id: UUID = Field(primary_key=True)
    currency: str = Field(primary_key=True)
    grain: int = Field(primary_key=True)
    at: int = Field(primary_key=True, sa_type=BigInteger)
    priced_session_count: int = _sum()
    priced_session_amount: int = _sum()
    payment_count: int = _sum()
    payment_amount: int = _sum()
    payment_fee: int = _sum()
    refund_count: int = _sum()
    refund_amount: int = _sum()
    refund_fee: int = _sum()
    cost_count: int = _sum()
    cost_amount_high: int = _sum()
    cost_amount_low: int = _sum()
    cost_parts_high: int = _sum()
    cost_parts_low: int = _sum()


class PersonCellRow(SQLModel, table=True):
    """The persons with an event in `grain` seconds from `at`: a serialized Roaring bitmap of `many`."""

    __tablename__ = "metric_person_cells"

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    grain: int = Field(primary_key=True)
    at: int = Field(primary_key=True, sa_type=BigInteger)
    persons: bytes = Field(sa_type=LargeBinary)
    many: int


class PersonMergeDeltaRow(SQLModel, table=True):
    """A merge of persons; only bitmaps before `until` have been rewritten for it."""

    __tablename__ = "person_merge_deltas"

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    absorbed: int = Field(primary_key=True)
    until: int | None = Field(default=None, sa_type=BigInteger)
