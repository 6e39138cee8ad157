"""Faults of the gateway's own processes, and of the database's."""

import asyncio
import os
import signal

from tests.faults.stage import POSTGRESQL, Fault, Stage

SECONDS_DOWN = 2
_ONLY_POSTGRESQL = (POSTGRESQL,)


class KilledWorker(Fault):
    name = "a worker is killed, 3 times"

    async def inject(self, stage: Stage) -> None:
        for _ in range(3):
            os.kill(stage.random.choice(stage.site.workers()), signal.SIGKILL)
            await stage.go_on()
            await stage.site.all_serve()


class KilledGateway(Fault):
    name = "all processes of the gateway are killed, 2 times"

    async def inject(self, stage: Stage) -> None:
        for _ in range(2):
            await stage.site.kill()
            await stage.site.start()
            await stage.go_on()


class StoppedPostgreSQL(Fault):
    name = "PostgreSQL is stopped and started"
    databases = _ONLY_POSTGRESQL
    mode = "fast"

    async def inject(self, stage: Stage) -> None:
        await asyncio.to_thread(stage.postgresql.stop, self.mode)
        await asyncio.sleep(SECONDS_DOWN)
        await asyncio.to_thread(stage.postgresql.start)


class CrashedPostgreSQL(StoppedPostgreSQL):
    name = "PostgreSQL crashes (`immediate`) and is started"
    mode = "immediate"


class KilledPostgreSQL(Fault):
    name = "PostgreSQL's processes are killed, and it is started"
    databases = _ONLY_POSTGRESQL

    async def inject(self, stage: Stage) -> None:
        stage.postgresql.kill()
        await asyncio.sleep(SECONDS_DOWN)
        await asyncio.to_thread(stage.postgresql.start)


class FrozenPostgreSQL(Fault):
    name = "PostgreSQL does not answer for 5 seconds"
    databases = _ONLY_POSTGRESQL

    async def inject(self, stage: Stage) -> None:
        stage.postgresql.send(signal.SIGSTOP)
        await asyncio.sleep(5)
        stage.postgresql.send(signal.SIGCONT)


class TerminatedConnections(Fault):
    name = "`pg_terminate_backend` ends all connections, 5 times"
    databases = _ONLY_POSTGRESQL

    async def inject(self, stage: Stage) -> None:
        others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        for _ in range(5):
            await asyncio.to_thread(stage.postgresql.psql, f"SELECT pg_terminate_backend(pid) {others}")
            await stage.go_on()
