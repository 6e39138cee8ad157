"""Gateways of old commits write during an upgrade and after it: in the end all that they wrote is counted."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from gateway import app
from storage.engine.database import Database
from storage.migrations.run import upgrade
from storage.upkeep.recounting import read_recount
from tests.support.commands.command import Command
from tests.support.databases.own_databases import create_database, named
from tests.support.measures.patience import TAKES_MINUTES, until
from tests.support.servers.gateways import SECRET, bearer, run_gateway

pytestmark = [TAKES_MINUTES, pytest.mark.long]
ROOT = Path(__file__).parents[2]
# The oldest that can be upgraded, and the last one before totals were counted again.
COMMITS = ("c144c91", "9557319")


@dataclass
class Old:
    """A gateway of an old commit with the database at `url`."""

    command: Command
    url: str
    acknowledged: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def serving(self, token: str) -> AsyncIterator[None]:
        """Let it create customers all the time."""
        process = self.command.start("serve", "--port", "0", "--json", stdout=subprocess.PIPE)
        assert process.stdout is not None
        address = json.loads(await asyncio.to_thread(process.stdout.readline))["url"]
        writing = asyncio.create_task(self._write(address, token))
        try:
            await self.goes_on()
            yield
            await self.goes_on()
        finally:
            writing.cancel()
            with suppress(asyncio.CancelledError):
                await writing
            process.terminate()
            await asyncio.to_thread(process.wait)
            process.stdout.close()

    async def _write(self, address: str, token: str) -> None:
        async with httpx.AsyncClient(base_url=address, headers=bearer(token)) as client:
            while True:
                email = f"{uuid4().hex}@example.com"
                answer = await client.post("/api/customers/", json={"email": email})
                if answer.status_code == 201:
                    self.acknowledged.append(email)

    async def goes_on(self) -> None:
        many = len(self.acknowledged) + 5

        async def has_written() -> bool:
            return len(self.acknowledged) >= many

        await until(has_written)


def unpacked(commit: str, folder: Path) -> Path:
    """The files of the commit. Skips the test if it is not in this copy of the project."""
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        pytest.skip(f"There is no commit {commit} here.")
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    return folder


@pytest.mark.parametrize("commit", COMMITS)
async def test_what_old_gateways_wrote_during_and_after_an_upgrade_is_counted(
    server_url: str, commit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = named(server_url, await create_database(server_url))
    settings = {"DUOGRAPH_DATABASE_URL": url, "DUOGRAPH_SECRET_KEY": SECRET, "DUOGRAPH_RATE_LIMIT": "0"}
    tree = unpacked(commit, tmp_path)
    command = Command(tree, {**settings, "PYTHONPATH": str(tree)}, (sys.executable, "-m", "gateway.cli.main"))
    command.run("migrate")
    token = command.json("seed", "--sessions", "5")["workspace_token"]
    old = Old(command, url)
    monkeypatch.setattr(app, "RECOUNT_SECONDS", 0.1)
    database = Database(url)
    async with old.serving(token):
        await upgrade(database)
        await old.goes_on()
        async for _ in run_gateway(url, tmp_path / "objects"):
            await old.goes_on()
            left = await read_recount(database)
            assert left is not None
            assert left.older > 0
    async for gateway in run_gateway(url, tmp_path / "objects"):
        await until(lambda: is_counted(database))
        answer = await gateway.client.get("/api/customers/?limit=1", headers=bearer(token))
        total = answer.json()["meta"]["total"]
    rows = await count(database)
    await database.close()
    assert total == rows >= len(old.acknowledged)


async def is_counted(database: Database) -> bool:
    return await read_recount(database) is None


async def count(database: Database) -> int:
    async with database.read() as connection:
        return int((await connection.exec_driver_sql("SELECT count(*) FROM customers")).scalar_one())
