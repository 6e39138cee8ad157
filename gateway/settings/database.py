"""Settings of the database and its replica."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, field_validator

from gateway.settings.values.types import SQLITE_START, DatabaseUrl
from storage.engine.connection_terms import Terms


class Pooler(StrEnum):
    TRANSACTION = "transaction"


class DatabaseSettings(BaseModel):
    """Database"""

    database_url: Annotated[
        DatabaseUrl,
        Field(
            description="`sqlite:///PATH` (`sqlite:////PATH` for an absolute path) or "
            "`postgresql://USER:PASSWORD@HOST/NAME`, with `?sslmode=verify-full` behind it for TLS with "
            "a server that `PGSSLROOTCERT` vouches for. The driver may be named too."
        ),
    ] = "sqlite+aiosqlite:///var/duograph.sqlite"
    database_read_url: Annotated[
        DatabaseUrl | None,
        Field(
            description="A standby of PostgreSQL that answers metrics, events and exports while it holds the "
            "caller's own changes; the database does otherwise."
        ),
    ] = None
    database_pool_size: Annotated[
        int,
        Field(ge=1, le=500, description="Connections of each process to each database, 1 to 500."),
    ] = 20
    database_tenant_connections: Annotated[
        int | None,
        Field(
            ge=1,
            le=500,
            description="Connections of each process that the requests of one workspace, user or network "
            "address use at a time, while others of theirs wait; if not set, a quarter of "
            "`DUOGRAPH_DATABASE_POOL_SIZE`.",
        ),
    ] = None
    database_long_connections: Annotated[
        int | None,
        Field(
            ge=1,
            le=500,
            description="How many of a tenant's connections (`DUOGRAPH_DATABASE_TENANT_CONNECTIONS`) run "
            "statements of more than 100 ms at a time; each keeps a processor of the database busy. If not "
            "set, half as many as the gateway's machine has processors.",
        ),
    ] = None
    database_node_connections: Annotated[
        int,
        Field(
            ge=0,
            le=500,
            description="Connections of each process to each node of a cluster, at the address that the "
            "coordinator has for it, which read what is about one workspace. 0 reads through the coordinator "
            "only.",
        ),
    ] = 10
    database_pooler: Annotated[
        Pooler | None,
        Field(
            description="`transaction` if the address is that of PgBouncer, or a similar pooler, in "
            "transaction mode: no statement stays prepared and no setting is sent when connecting."
        ),
    ] = None
    database_statement_seconds: Annotated[
        int,
        Field(
            ge=0,
            le=86_400,
            description="How long a request's statement may run on PostgreSQL before the request fails with "
            "503; 0 for no limit.",
        ),
    ] = 60
    database_lock_seconds: Annotated[
        int,
        Field(
            ge=0,
            le=86_400,
            description="How long a request's statement may wait for a lock on PostgreSQL before the request "
            "fails with 503; 0 for no limit.",
        ),
    ] = 30
    database_connection_seconds: Annotated[
        int,
        Field(
            ge=10,
            le=604_800,
            description="A connection to PostgreSQL about this old is replaced by a new one at its next use.",
        ),
    ] = 3600

    @field_validator("database_read_url")
    @classmethod
    def _check_replica(cls, url: str | None) -> str | None:
        if url is not None and url.startswith(SQLITE_START):
            raise ValueError("only PostgreSQL has replicas: unset it")
        return url

    @property
    def database_terms(self) -> Terms:
        """How a gateway's connections to PostgreSQL are used."""
        return Terms(
            pooled=self.database_pooler is Pooler.TRANSACTION,
            statement_seconds=self.database_statement_seconds,
            lock_seconds=self.database_lock_seconds,
            life_seconds=self.database_connection_seconds,
        )

    @property
    def sqlite_path(self) -> Path | None:
        """The database file; None for PostgreSQL."""
        if not self.database_url.startswith(SQLITE_START):
            return None
        return Path(self.database_url.removeprefix(SQLITE_START).partition("?")[0])
