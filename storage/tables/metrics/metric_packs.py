"""Packs: what shares did in 32 UTC days that are over, in few rows, from which groups are read."""

from uuid import UUID

from sqlalchemy import BigInteger, LargeBinary
from sqlmodel import Field, SQLModel


class MetricPackRow(SQLModel, table=True):
    """32 days of a workspace from `at`, in microseconds since 1970; `storage/metrics/packs/` has the layouts.

    `format` is 0 while `maker` makes the pack, since `begun` in microseconds. `totals` has each share's sums;
    `busiest`, `together` and `others` have the persons with an event: of the busiest shares, of all others as
    one set, and of each of these.
    """

    __tablename__ = "metric_packs"

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    at: int = Field(primary_key=True, sa_type=BigInteger)
    format: int = Field(sa_type=BigInteger)
    maker: UUID
    begun: int = Field(sa_type=BigInteger)
    totals: bytes = Field(default=b"", sa_type=LargeBinary)
    busiest: bytes = Field(default=b"", sa_type=LargeBinary)
    together: bytes = Field(default=b"", sa_type=LargeBinary)
    others: bytes = Field(default=b"", sa_type=LargeBinary)


class MetricSharePackRow(SQLModel, table=True):
    """The sums of one share by hour, of the pack that begins at `at`."""

    __tablename__ = "metric_share_packs"

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    at: int = Field(primary_key=True, sa_type=BigInteger)
    share_id: UUID = Field(primary_key=True)
    hours: bytes = Field(sa_type=LargeBinary)
