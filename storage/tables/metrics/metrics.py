"""The log of measured facts, and the persons that they are about."""

from uuid import UUID, uuid4

from sqlalchemy import BigInteger, Index, text
from sqlmodel import Field, SQLModel

from storage.types import CodePointText

_HAS_UNCLAIMED = text("unclaimed IS NOT NULL")


class MetricFactRow(SQLModel, table=True):
    """One measured fact; rows are never changed or deleted.

    `moment` is microseconds since 1970 in UTC. `count` is 1, or -1 to reverse a fact. Amounts and fees are
    minor units of `currency`; for costs, `parts` adds 10^-12 of a minor unit each (0 to 10^12 - 1). A
    session's `amount` is its list price; a refund's amount and fee are negative.
    """

    __tablename__ = "metric_facts"
    __table_args__ = (
        Index("ix_metric_facts_moment", "workspace_id", "moment"),
        # Finds the persons of a share without reading rows: events are few among its facts.
        Index("ix_metric_facts_share", "workspace_id", "share_id", "kind", "moment", "person"),
        # Covers the metrics of a customer: looking up thousands of rows would take longer.
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
    """The next number for a person in a workspace; processes reserve numbers in blocks."""

    __tablename__ = "person_counters"

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    next_person: int = 1


class ExternalPersonRow(SQLModel, table=True):
    """The person of an external id; the row is deleted with the customer who has the id.

    `customer_id` is that customer: whoever waited for it to take the id learns here who the person is.
    `unclaimed` is the person under whose number the id has more rows than the customer could take over at
    once; null if there are none.
    """

    __tablename__ = "external_persons"
    __table_args__ = (
        Index(
            "ix_external_persons_unclaimed",
            "workspace_id",
            "external_id",
            sqlite_where=_HAS_UNCLAIMED,
            postgresql_where=_HAS_UNCLAIMED,
        ),
    )

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    external_id: str = Field(primary_key=True, sa_type=CodePointText)
    person: int
    customer_id: UUID | None = None
    unclaimed: int | None = None


class PersonMergeRow(SQLModel, table=True):
    """Two numbers of one person: facts keep their number, and reads follow `into`, which takes one step."""

    __tablename__ = "person_merges"
    __table_args__ = (Index("ix_person_merges_into", "workspace_id", "into"),)

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    absorbed: int = Field(primary_key=True)
    into: int
