"""A migration and a fold that are killed at their statements, each time in a process of its own."""

import asyncio
import json
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from time import monotonic

from tests.faults.outcome import Outcome
from tests.faults.stage import SQLITE
from tests.support.servers.ports import own_port
from tests.support.servers.postgresql import PostgreSQL

NAMES = {"migration": "a migration is killed", "fold": "the fold is killed"}
_ROOT = Path(__file__).parents[2]


async def run_killed(work: str, database: str, seed: int, chosen: int | None = None) -> Outcome:
    """Kill the work at as many of its statements, chosen by the seed, or at all of them, and do it again.

    `tried` are the kills and `acknowledged` those after which the database became what it should be.
    """
    return await asyncio.to_thread(_run, work, database, seed, chosen)


def _run(work: str, database: str, seed: int, chosen: int | None) -> Outcome:
    begun = monotonic()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="faults-")))
        url = f"sqlite+aiosqlite:///{folder}/duograph.sqlite"
        if database != SQLITE:
            server = PostgreSQL(folder, own_port())
            stack.callback(server.kill)
            # Databases are copied for each attempt, which need not reach the disk.
            server.create(fsync="off")
            server.start()
            url = server.url
        choice = [] if chosen is None else [str(chosen), str(seed)]
        ended = subprocess.run(
            [sys.executable, "-m", "tests.faults.killing", work, url, *choice],
            capture_output=True,
            text=True,
            cwd=_ROOT,
            check=False,
        )
    if ended.returncode != 0:
        raise RuntimeError(ended.stderr[-2000:])
    found = json.loads(ended.stdout)
    killed, wrong = found["killed"], found["wrong"]
    which = "at each" if killed == found["statements"] else f"at {killed}"
    return Outcome(
        f"{NAMES[work]} {which} of its {found['statements']} statements",
        database,
        tried=killed,
        acknowledged=killed - len(wrong),
        lost=len(wrong),
        seconds=(monotonic() - begun) / (killed + 1),
        problems=[f"wrong after statements {wrong}"] if wrong else [],
    )
