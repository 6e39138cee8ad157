"""The server time of a dashboard: `python -m bench.dashboard FOLDER 1000000`.

FOLDER is that of `python -m bench.metrics`. Its SQLite database of so many sessions is copied, and its
workspace gets a user. The times are those of whole requests in this process, without network: medians, in
milliseconds.
"""

import asyncio
import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import httpx

from bench.metrics.activity import LAST_DAY as END
from bench.metrics.loading import WORKSPACE_ID
from gateway.app import create_app
from gateway.settings.settings import Settings
from resolvers.accounts.users import create_user
from resolvers.credentials.browser_sessions import start_browser_session
from resolvers.workspaces.memberships import invite, join
from storage.engine.database import Database
from storage.enums import WorkspaceRole
from storage.migrations.run import upgrade

ROUNDS = 9
YEAR = f"start_date={END.replace(year=END.year - 1)}&end_date={END}"
PAGES = {
    "a year by day": f"/bench/dashboard?{YEAR}&interval=day&timezone=America/New_York",
    "30 days by day": f"/bench/dashboard?start_date={END.replace(day=1)}&end_date={END}&interval=day",
    "top shares of the year": f"/bench/dashboard/top/share?{YEAR}",
    "top customers of the year": f"/bench/dashboard/top/customer?{YEAR}",
    "events by name of the year": f"/bench/dashboard/top/event?{YEAR}",
}


async def measure(folder: Path, source: Path) -> None:
    shutil.copyfile(source, folder / "bench.sqlite")
    settings = Settings(
        database_url=f"sqlite+aiosqlite:///{folder}/bench.sqlite",
        object_store=str(folder / "objects"),
        outbox=str(folder / "outbox"),
        secret_key="x" * 32,
        rate_limit=0,
        rate_limit_restricted=0,
        access_log=False,
    )
    app = create_app(settings)
    database = app.state.services.database
    await upgrade(database)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://gateway", timeout=60) as client,
    ):
        client.cookies.set("duograph_session", await _session(database))
        print("| page | time | CPU | size, kB |\n|---|---|---|---|")
        for name, address in PAGES.items():
            times, size = await _times(client, address)
            wall, cpu = (median(each) * 1000 for each in zip(*times, strict=True))
            print(f"| {name} | {wall:.0f} | {cpu:.0f} | {size / 1000:.0f} |")


async def _session(database: Database) -> str:
    async with database.write() as connection:
        user = await create_user(connection, "bench@example.com", "a long password", "Bench")
        invited = await invite(connection, WORKSPACE_ID, user.email, WorkspaceRole.OWNER, user.id)
        await join(connection, invited, user)
        session = await start_browser_session(connection, user.id, "address:192.0.2.1", "bench")
    return session.text


async def _times(client: httpx.AsyncClient, address: str) -> tuple[list[tuple[float, float]], int]:
    times = []
    for _ in range(ROUNDS + 1):
        wall, cpu = time.perf_counter(), time.process_time()
        answer = await client.get(address)
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
        answer.raise_for_status()
    return times[1:], len(answer.content)


def main() -> None:
    source = Path(sys.argv[1]) / f"metrics-{sys.argv[2]}.sqlite"
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), source))


if __name__ == "__main__":
    main()
