"""Migrating: bring the database to the revision of this version."""

from gateway.cli.kit.database import bring_up, reached, read_settings, wait_for
from gateway.cli.kit.output import show, tell_operator
from gateway.settings.settings import Settings
from storage.migrations.lock import Tell, silent


def migrate(*, as_json: bool) -> None:
    revision = wait_for(_migrate(read_settings(), silent if as_json else tell_operator))
    show({"revision": revision}, f"The database is at revision {revision}.", as_json=as_json)


async def _migrate(settings: Settings, tell: Tell) -> str:
    async with reached(settings, create=True) as database:
        return await bring_up(database, tell)
