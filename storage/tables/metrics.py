"""The log of measured facts, and the persons they are about."""

from uuid import UUID, uuid4

from sqlalchemy import BigInteger, Index
from sqlmodel import Field, SQLModel

from storage.types import CodePointText


class MetricFactRow(SQLModel, table=True):
    """One measured fact; rows are only ever added.

    `moment` is microseconds since 1970 in UTC. `count` is 1, or -1 where a fact is taken back. Amounts
    and fees are minor units of `currency`; `parts` are 10^-12 of a minor unit, for costs (0 to 10^12 - 1).
    A session's `amount` is its list price, a refund's amount and fee are negative.
    """

    __tablename__ = "metric_facts"
    __table_args__ = (
        Index("ix_metric_facts_moment", "workspace_id", "moment"),
        # Tells the persons of a share, whose events are few among its facts, without the rows.
        Index("ix_metric_facts_share", "workspace_id", "share_id", "kind", "moment", "person"),
        # Holds all that the metrics of a customer are made of: to look thousands of rows up takes longer.
        Index(
            "ix_metric_facts_person",
            *("workspace_id", "person", "kind", "moment"),
            *("currency", "count", "bytes", "amount", "fee", "parts"),
        ),
    )

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    id: UUID = Field(default_factory=uuid4, primary_key=True)
    moment: int = Field(sa_type=BigInteger)
    kind: str
    share_id: UUID | None = None
    person: int | None = None
    currency: str | None = None
    count: int = 1
    bytes: int = Field(default=0, sa_type=BigInteger)
    amount: int = Field(default=0, sa_type=BigInteger)
    fee: int = Field(default=0, sa_type=BigInteger)
    parts: int = Field(default=0, sa_type=BigInteger)


class PersonCounterRow(SQLModel, table=True):
    """The next number of a person in a workspace; processes take numbers in blocks."""

    __tablename__ = "person_counters"

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    next_person: int = 1


class ExternalPersonRow(SQLModel, table=True):
    """The person that an external id points to; the row goes when the customer who held the id is deleted."""

    __tablename__ = "external_persons"

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    external_id: str = Field(primary_key=True, sa_type=CodePointText)
    person: int


class PersonMergeRow(SQLModel, table=True):
    """Two numbers that turned out to be one person: facts keep theirs, reads follow `into` (one step)."""

    __tablename__ = "person_merges"
    __table_args__ = (Index("ix_person_merges_into", "workspace_id", "into"),)

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    absorbed: int = Field(primary_key=True)
    into: int
