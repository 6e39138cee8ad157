"""Faults of the way from the gateway to PostgreSQL: a proxy that delays and cuts connections."""

import asyncio
from typing import ClassVar

from tests.faults.site import until
from tests.faults.stage import POSTGRESQL, Fault, Stage
from tests.support.servers.tcp_proxy import Cut, TcpProxy

CUT_COMMITS = 12


class _BehindProxy(Fault):
    databases = (POSTGRESQL,)

    async def prepare(self, stage: Stage) -> None:
        server = stage.postgresql
        self.proxy = await stage.stack.enter_async_context(TcpProxy.before(server.port))
        through = server.url.replace(str(server.port), str(self.proxy.port))
        stage.site.settings["DATABASE_URL"] = through


class CutConnections(_BehindProxy):
    name = "the network cuts all connections, 10 times"

    async def inject(self, stage: Stage) -> None:
        for _ in range(10):
            self.proxy.cut()
            await stage.go_on()


class UnreachableDatabase(_BehindProxy):
    name = "the network refuses and cuts connections for 3 seconds"

    async def inject(self, stage: Stage) -> None:
        self.proxy.refusing = True
        self.proxy.cut()
        await asyncio.sleep(3)
        self.proxy.refusing = False


class SlowNetwork(_BehindProxy):
    name = "the network takes 0.2 seconds each way, for 8 seconds"

    async def inject(self, stage: Stage) -> None:
        self.proxy.delay = 0.2
        await asyncio.sleep(8)
        self.proxy.delay = 0.0


class CutCommits(_BehindProxy):
    """A third of the COMMITs, chosen by the seed, is lost in one way."""

    cut: ClassVar[Cut]

    async def inject(self, stage: Stage) -> None:
        cuts = 0

        def choose(chunk: bytes) -> Cut | None:
            nonlocal cuts
            if b"COMMIT" not in chunk or stage.random.random() > 1 / 3:
                return None
            cuts += 1
            return self.cut

        self.proxy.choose = choose
        await until(lambda: cuts >= CUT_COMMITS, "COMMITs are cut")
        self.proxy.choose = lambda _: None


class CommitNeverArrives(CutCommits):
    name = f"{CUT_COMMITS} connections are cut before COMMIT arrives"
    cut = Cut.BEFORE


class CommitUnanswered(CutCommits):
    name = f"{CUT_COMMITS} connections are cut after COMMIT, before its answer"
    cut = Cut.AFTER


class CommitArrivesLate(CutCommits):
    name = f"{CUT_COMMITS} connections are cut at COMMIT, which arrives 1.5 seconds later"
    cut = Cut.LATE
