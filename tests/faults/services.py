"""Faults of the services beside the database: Redis, the object store, a replica; and of the clock."""

import asyncio
import signal
import sys
from pathlib import Path
from uuid import uuid4

import httpx

from tests.faults.beside import Beside, told
from tests.faults.site import until
from tests.faults.stage import POSTGRESQL, Fault, Stage
from tests.support.servers.ports import own_port
from tests.support.servers.postgresql import PostgreSQL
from tests.support.servers.rate_limiting import redis_server
from tests.support.servers.s3_server import S3Server
from tests.support.servers.tcp_proxy import TcpProxy
from tests.support.tenants.uploads import completion, new_file

_CONTENT = b"a file of the tests"
_SHIFTED = Path(__file__).with_name("shifted.py")


class StoppedRedis(Fault):
    name = "Redis is killed"
    databases = (POSTGRESQL,)
    number = signal.SIGKILL

    async def prepare(self, stage: Stage) -> None:
        path = stage.site.folder / "redis.sock"
        self.server = stage.stack.enter_context(redis_server(path))
        # Writes are charged in Redis, and never refused.
        stage.site.settings.update(REDIS_URL=f"unix://{path}", RATE_LIMIT="1000000")

    async def inject(self, stage: Stage) -> None:
        self.server.send_signal(self.number)
        await stage.go_on(80)


class FrozenRedis(StoppedRedis):
    name = "Redis does not answer"
    number = signal.SIGSTOP


async def upload(caller: Beside) -> bool:
    """Upload one file, whose parts go straight to the store; whether it arrived whole."""
    key = {"Idempotency-Key": uuid4().hex}
    created = await caller.asked("POST", "/api/files/", json=new_file(_CONTENT), headers=key)
    if created.status_code >= 300:
        return False
    file = created.json()
    (part,) = file["upload"]["parts"]
    try:
        put = await caller.client.put(part["url"], content=_CONTENT, headers={**part["headers"]})
    except httpx.TransportError:
        return False
    if put.status_code != 200:
        return False
    parts = [{"number": 1, "checksum_etag": put.headers["etag"], "checksum_sha256_base64": None}]
    path = f"/api/files/{file['id']}/uploaded"
    ended = await caller.asked("POST", path, json=completion(file, parts))
    return ended.status_code < 300


class StoppedStore(Fault):
    """Uploads wait for the store; writes that have nothing to do with it go on."""

    name = "the object store is stopped for 4 seconds, under uploads"
    databases = (POSTGRESQL,)

    async def prepare(self, stage: Stage) -> None:
        server = S3Server()
        stage.stack.callback(server.stop)
        self.proxy = await stage.stack.enter_async_context(TcpProxy.before(server.port))
        settings = await asyncio.to_thread(server.settings, f"faults-{uuid4().hex}")
        settings["s3_endpoint"] = f"http://127.0.0.1:{self.proxy.port}"
        stage.site.settings.update({name.upper(): value for name, value in settings.items()})
        self.caller = Beside(stage)
        stage.stack.push_async_callback(self.caller.end)

    async def inject(self, stage: Stage) -> None:
        self.caller.begin(upload)
        await until(lambda: self.caller.done >= 3, "files arrive")
        await self.disturb()
        before = self.caller.done
        await until(lambda: self.caller.done >= before + 3, "files arrive again")

    async def disturb(self) -> None:
        self.proxy.refusing = True
        self.proxy.cut()
        await until(lambda: self.caller.statuses[503], "an upload is answered with 503")
        await asyncio.sleep(4)
        self.proxy.refusing = False

    async def check(self, stage: Stage) -> list[str]:
        await self.caller.end()
        return self.caller.surprises

    def note(self) -> str:
        return told("uploads", [self.caller])


class SlowStore(StoppedStore):
    name = "the object store takes 0.5 seconds each way, under uploads"

    async def disturb(self) -> None:
        self.proxy.delay = 0.5
        before = self.caller.done
        await until(lambda: self.caller.done >= before + 1, "a slow file arrives")
        self.proxy.delay = 0.0


async def read(caller: Beside) -> bool:
    """Read what a replica serves: events and metrics."""
    days = {"start_date": "2026-01-01", "end_date": "2026-01-31", "interval": "day"}
    answers = [
        await caller.asked("GET", "/api/events/"),
        await caller.asked("GET", "/api/metrics/", params=days),
    ]
    return all(answer.status_code == 200 for answer in answers)


class StoppedReplica(Fault):
    name = "the replica is stopped and started, under reads"
    databases = (POSTGRESQL,)

    async def prepare(self, stage: Stage) -> None:
        self.replica = PostgreSQL(stage.site.folder / "replica", own_port())
        self.replica.data.parent.mkdir()
        stage.stack.callback(self.replica.kill)
        await asyncio.to_thread(stage.postgresql.copy_to, self.replica)
        await asyncio.to_thread(self.replica.start)
        stage.site.settings["DATABASE_READ_URL"] = self.replica.url
        self.caller = Beside(stage)
        stage.stack.push_async_callback(self.caller.end)

    async def inject(self, stage: Stage) -> None:
        self.caller.begin(read)
        await until(lambda: self.caller.done >= 5, "reads are answered")
        await asyncio.to_thread(self.replica.stop, "immediate")
        await stage.go_on(60)
        await asyncio.to_thread(self.replica.start)
        before = self.caller.done
        await until(lambda: self.caller.done >= before + 5, "reads are answered again")

    async def check(self, stage: Stage) -> list[str]:
        await self.caller.end()
        refused = [f"a read was answered {status}" for status in self.caller.statuses if status != 200]
        return self.caller.surprises + refused

    def note(self) -> str:
        return told("reads", [self.caller])


class JumpingClock(Fault):
    """The gateway's clock is moved; the database's stays, as if they were two machines."""

    name = "the gateway's clock jumps by an hour, back and forth"

    async def prepare(self, stage: Stage) -> None:
        self.offset = stage.site.folder / "clock"
        self.offset.write_text("0")
        stage.site.program = (sys.executable, "-P", str(_SHIFTED), str(self.offset))

    async def inject(self, stage: Stage) -> None:
        for seconds in (-3600, 0, 3600, 0, -7200, 0):
            self.offset.write_text(str(seconds))
            await stage.go_on(40)
