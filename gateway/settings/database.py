"""Settings of the database and its replica."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from gateway.settings.types import SQLITE_START, DatabaseUrl


class DatabaseSettings(BaseModel):
    """Database"""

    database_url: Annotated[
        DatabaseUrl,
        Field(
            description="`sqlite:///PATH` (`sqlite:////PATH` for an absolute path) or "
            "`postgresql://USER:PASSWORD@HOST/NAME`. The driver may be named too."
        ),
    ] = "sqlite+aiosqlite:///var/duograph.sqlite"
    database_read_url: Annotated[
        DatabaseUrl | None,
        Field(description="A replica of the database that serves metrics, events and exports."),
    ] = None
    database_pool_size: Annotated[
        int,
        Field(ge=1, le=500, description="Connections of each process to each database, 1 to 500."),
    ] = 20

    @property
    def sqlite_path(self) -> Path | None:
        """The database file; None for PostgreSQL."""
        if not self.database_url.startswith(SQLITE_START):
            return None
        return Path(self.database_url.removeprefix(SQLITE_START).partition("?")[0])
