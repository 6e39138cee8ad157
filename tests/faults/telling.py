"""Faults of telling others: receivers that fail, and gateways and readers that are killed."""

import asyncio
import os
import signal
import sys
from collections import Counter
from pathlib import Path

from aiohttp import web

from tests.faults.services import JumpingClock
from tests.faults.site import until
from tests.faults.stage import Fault, Stage
from tests.faults.told import Endpoint, read_log
from tests.support.servers.ports import own_port
from tests.support.servers.receiver import Received, Receiver, accept

_READER = Path(__file__).with_name("feed_reader.py")
SLOW_SECONDS, NEVER_SECONDS = 0.3, 3600
# The receivers at one address answer by their paths.
GOOD, SLOW, FAILING, NEVER, GONE = "good", "slow", "failing", "never", "gone"


class Telling(Fault):
    """`receiver` notes what endpoints are told; each must have been told the log in the end."""

    async def prepare(self, stage: Stage) -> None:
        await super().prepare(stage)
        stage.site.settings["WEBHOOK_ALLOW"] = "127.0.0.0/8"
        self.receiver = await Receiver().start()
        stage.stack.push_async_callback(self.receiver.stop)
        self.endpoints: dict[str, Endpoint] = {}
        self.notes: list[str] = []

    async def tell(self, stage: Stage, path: str = GOOD, url: str | None = None) -> None:
        """Make an endpoint."""
        url = url or self.receiver.url.replace("/hooks", f"/{path}")
        self.endpoints[path] = endpoint = Endpoint(stage.site, url)
        await endpoint.create()

    def got(self, path: str) -> list[Received]:
        return [each for each in self.receiver.received if each.path == f"/{path}"]

    async def check(self, stage: Stage) -> list[str]:
        problems = await super().check(stage)
        for path, endpoint in self.endpoints.items():
            await endpoint.settled()
            problems += await endpoint.problems(self.got(path))
        received = self.got(GOOD)
        repeated = len(received) - len({each.id for each in received})
        self.notes.append(f"{len(received) - repeated} webhooks, {repeated} repeated")
        return problems

    def note(self) -> str:
        return ", ".join(filter(None, [super().note(), *self.notes]))


class KilledSender(Telling):
    """The gateway is killed at once after a commit, while a receiver answers, or right after it has.

    Beside it, a reader of the feed is killed, and goes on by its pages or by the stream.
    """

    kills, reader_kills = 20, 50
    name = f"the gateway is killed as it sends webhooks, {kills} times, and a reader, {reader_kills} times"

    async def prepare(self, stage: Stage) -> None:
        await super().prepare(stage)
        self.file, self.starts = stage.site.folder / "feed", 0
        self.reader: asyncio.subprocess.Process | None = None
        stage.stack.push_async_callback(self._end_reader)

    async def inject(self, stage: Stage) -> None:
        await self.tell(stage)
        reading = asyncio.create_task(self._kill_readers(stage))
        for number in range(self.kills):
            await self._moment(stage)
            if number % 2:
                await stage.site.kill()
                await stage.site.start()
            else:
                os.kill(stage.random.choice(stage.site.workers()), signal.SIGKILL)
                await stage.site.all_serve()
            self.receiver.answer = accept
            await stage.go_on()
        await reading

    async def _moment(self, stage: Stage) -> None:
        """Wait for one of the moments at which the gateway is killed."""
        way, seconds = stage.random.choice(("committed", "asked", "answered")), stage.random.uniform(0, 0.03)
        if way == "committed":
            await stage.go_on(1)
        else:
            arrived = asyncio.Event()

            async def answer(received: Received) -> web.StreamResponse:
                arrived.set()
                if way == "asked":
                    await asyncio.sleep(1)
                return await accept(received)

            self.receiver.answer = answer
            await arrived.wait()
        await asyncio.sleep(seconds)

    async def _kill_readers(self, stage: Stage) -> None:
        for _ in range(self.reader_kills):
            await self._read(stage)
            await asyncio.sleep(stage.random.uniform(0.1, 1))
            await self._end_reader()

    async def _read(self, stage: Stage) -> None:
        self.starts += 1
        token, way = stage.site.tenant.token, ("pages", "stream")[self.starts % 2]
        self.reader = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", _READER, stage.site.address, token, self.file, way)
        )

    async def _end_reader(self) -> None:
        if self.reader is not None:
            self.reader.kill()
            await self.reader.wait()
            self.reader = None

    def _lines(self) -> list[str]:
        return self.file.read_text().split("\n")[:-1]

    async def hurry(self) -> None:
        """Nothing: what was claimed by a killed process is claimed again after a minute."""

    async def check(self, stage: Stage) -> list[str]:
        await self.hurry()
        await self._read(stage)
        problems = await super().check(stage)
        log = [f"{each.position:019} {each.id}" for each in await read_log(stage.site)]
        await until(lambda: len(self._lines()) >= len(log), "the reader has read the log")
        read = self._lines()
        self.notes.append(f"{len(read)} changes read")
        return problems if read == log else [*problems, "the reader of the feed has not what the log has"]


class KilledSenderInShort(KilledSender):
    """The same, in seconds."""

    kills, reader_kills = 3, 5

    def _lines(self) -> list[str]:
        return self.file.read_text().split("\n")[:-1]

    async def hurry(self) -> None:
        await self.endpoints[GOOD].end_leases()


class FailingReceivers(Telling):
    """Each fails in its own way until the end of the fault; the good one is told everything meanwhile."""

    name = "receivers are down, slow, answer 500 or 410, or never"

    async def inject(self, stage: Stage) -> None:
        self.asked: Counter[str] = Counter()
        self.is_healed = False
        self.receiver.answer = self._answer
        for path in (GOOD, SLOW, FAILING, NEVER, GONE):
            await self.tell(stage, path)
        port = own_port()
        await self.tell(stage, "down", f"http://127.0.0.1:{port}/down")
        await stage.go_on(200)
        await until(lambda: self.asked[NEVER] > 10 and self.asked[FAILING] > 10, "receivers are tried again")
        before = len(self.got(GOOD))
        await until(lambda: len(self.got(GOOD)) >= before + 50, "the good receiver is told meanwhile")
        self.is_healed = True
        self.down = await Receiver(accept).start(port)
        stage.stack.push_async_callback(self.down.stop)

    async def _answer(self, received: Received) -> web.StreamResponse:
        path = received.path.removeprefix("/")
        self.asked[path] += 1
        if path == SLOW:
            await asyncio.sleep(SLOW_SECONDS)
        if path == GONE:
            return web.Response(status=410)
        if path == FAILING and not self.is_healed:
            return web.Response(status=500)
        if path == NEVER and not self.is_healed:
            await asyncio.sleep(NEVER_SECONDS)
        return await accept(received)

    def got(self, path: str) -> list[Received]:
        return self.down.received if path == "down" else super().got(path)

    async def check(self, stage: Stage) -> list[str]:
        gone = self.endpoints.pop(GONE)
        is_enabled = (await gone.state())["is_enabled"]
        for endpoint in self.endpoints.values():
            await endpoint.redeliver()
        problems = await super().check(stage)
        self.notes.append(f"told 410: {self.asked[GONE]}, attempts that failed: {self._failed()}")
        return [*problems, "the endpoint that answered 410 is enabled"] if is_enabled else problems

    def _failed(self) -> int:
        received = [each for path in (FAILING, NEVER) for each in self.got(path)]
        return len(received) - len({(each.path, each.id) for each in received})


class JumpingClockOfSender(Telling, JumpingClock):
    """What was due by a clock that was ahead would come up to two hours late: it is redelivered."""

    name = "the gateway's clock jumps by an hour, back and forth, as it sends webhooks"

    async def inject(self, stage: Stage) -> None:
        await self.tell(stage)
        await super().inject(stage)

    async def check(self, stage: Stage) -> list[str]:
        await self.endpoints[GOOD].redeliver()
        return await super().check(stage)
