"""What is kept beside the rows that it is computed from, and can be checked and rebuilt by commands."""

import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from rich.console import Console
from rich.progress import track
from sqlalchemy import select

from gateway.cli.kit.database import migrated, read_settings, wait_for
from gateway.cli.kit.input import workspace_of
from gateway.cli.kit.output import CommandError, show
from gateway.settings.settings import Settings
from storage.engine.database import Database
from storage.ledger.books import Ledger
from storage.ledger.checking import rebuild, verify
from storage.rows.rows import table_of
from storage.tables.workspaces.workspaces import WorkspaceRow

Count = tuple[int, int]
Work = Callable[[Database, UUID], Awaitable[Count]]

_workspaces = table_of(WorkspaceRow)


@dataclass(frozen=True)
class Kept:
    """The `name` of what is kept, its `source`, the `noun` of its commands, and its ledgers."""

    name: str
    source: str
    noun: str
    ledgers: Sequence[Ledger]

    def verify(self, workspace: str | None, *, as_json: bool) -> None:
        many, differences = wait_for(_each(read_settings(), workspace, "Verifying", self._verify))
        text = f"{many} {self.name}, {differences} differ from {self.source}."
        show({self.name: many, "differences": differences}, text, as_json=as_json)
        if differences:
            raise CommandError(
                f"{differences} {self.name} differ from {self.source}: `duograph {self.noun} rebuild` "
                "corrects them."
            )

    def rebuild(self, workspace: str | None, *, as_json: bool) -> None:
        many, differences = wait_for(_each(read_settings(), workspace, "Rebuilding", self._rebuild))
        text = f"Rebuilt {many} {self.name}; {differences} had differed from {self.source}."
        show({self.name: many, "differences": differences}, text, as_json=as_json)

    async def _verify(self, database: Database, workspace_id: UUID) -> Count:
        return await verify(database, workspace_id, self.ledgers)

    async def _rebuild(self, database: Database, workspace_id: UUID) -> Count:
        _, differences = await self._verify(database, workspace_id)
        return await rebuild(database, workspace_id, self.ledgers), differences


async def _each(settings: Settings, slug: str | None, label: str, work: Work) -> Count:
    """Run `work` for each workspace and return the sums of its counts."""
    many = differences = 0
    async with migrated(settings) as database:
        console = Console(file=sys.stderr)
        ids = await _ids(database, slug)
        for workspace_id in track(ids, label, console=console, disable=not console.is_terminal):
            more, more_differences = await work(database, workspace_id)
            many, differences = many + more, differences + more_differences
    return many, differences


async def _ids(database: Database, slug: str | None) -> list[UUID]:
    async with database.read() as connection:
        if slug is not None:
            return [(await workspace_of(connection, slug)).id]
        present = select(_workspaces.c.id).where(_workspaces.c.deleted_at.is_(None))
        return list((await connection.execute(present)).scalars())
