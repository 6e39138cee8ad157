"""Faults of a cluster: of its coordinator, and of the node that has the writers' workspace."""

import asyncio
import signal
import subprocess
from uuid import UUID, uuid4

from storage.cluster.watching import CitusQuestions
from storage.engine.database import Database
from tests.faults.beside import Beside, told
from tests.faults.site import until
from tests.faults.stage import CITUS, Fault, Stage
from tests.support.servers.citus import BUILT, DATABASE, LEFT_BY_MOVES, Node
from tests.support.servers.gateways import Gateway, make_tenant

SECONDS_DOWN = 10
# Enough to have all connections of both workers, if a node could.
CALLERS = 60


async def create(caller: Beside) -> bool:
    """Create a customer."""
    answer = await caller.asked("POST", "/api/customers/", json={"email": f"{uuid4().hex}@example.com"})
    return answer.status_code == 201


async def read(caller: Beside) -> bool:
    return (await caller.asked("GET", "/api/customers/")).status_code == 200


class FaultOfCluster(Fault):
    databases = (CITUS,)

    def impossible(self) -> str | None:
        return None if BUILT.exists() else "Citus is not built: `make cluster` builds it"


class KilledCoordinator(FaultOfCluster):
    """Nodes may then have prepared a transaction whose end the coordinator alone knows."""

    name = "the coordinator is killed, and started 2 seconds later, 5 times"

    async def inject(self, stage: Stage) -> None:
        for _ in range(5):
            stage.postgresql.kill()
            await asyncio.sleep(2)
            await asyncio.to_thread(stage.postgresql.start)
            await stage.go_on()


class HungNode(FaultOfCluster):
    """Callers of a workspace of another node must notice nothing."""

    name = f"a node does not answer for {SECONDS_DOWN} seconds, and {CALLERS} callers ask it"
    callers = CALLERS

    async def prepare(self, stage: Stage) -> None:
        assert stage.site.cluster is not None
        database = Database(stage.site.database_url)
        questions = CitusQuestions(database)
        try:
            gateway = Gateway(None, None, database, stage.site.folder)  # type: ignore[arg-type]
            while True:
                other = await make_tenant(gateway)
                places = await questions.places()
                lost = places[UUID(stage.site.tenant.id)].node
                if places[UUID(other.id)].node != lost:
                    break
        finally:
            await questions.end()
            await database.close()
        self.node: Node = stage.site.cluster.nodes[lost]
        self.others = [Beside(stage, other.token) for _ in range(2)]
        self.crowd = [Beside(stage) for _ in range(self.callers)]
        for caller in (*self.others, *self.crowd):
            stage.stack.push_async_callback(caller.end)

    async def inject(self, stage: Stage) -> None:
        for caller, action in zip(self.others, (create, read), strict=True):
            caller.begin(action)
        for caller in self.crowd:
            caller.begin(read)
        await until(lambda: all(caller.done >= 3 for caller in self.others), "the other workspace is served")
        await self.strike(stage)
        for caller in self.crowd:
            await caller.end()

    async def strike(self, stage: Stage) -> None:
        await self.lose()
        await asyncio.sleep(SECONDS_DOWN)
        await self.find()

    async def lose(self) -> None:
        self.node.send(signal.SIGSTOP)

    async def find(self) -> None:
        self.node.send(signal.SIGCONT)

    async def check(self, stage: Stage) -> list[str]:
        surprises = []
        for caller in (*self.others, *self.crowd):
            await caller.end()
            surprises += caller.surprises
        for caller in self.others:
            refused = [status for status in caller.statuses if status >= 300]
            surprises += [f"a workspace of another node was answered {status}" for status in refused]
        return surprises

    def note(self) -> str:
        said = []
        for who, callers in (("another node's workspace", self.others), ("callers", self.crowd)):
            longest = max(caller.longest for caller in callers)
            said.append(f"{told(who, callers)}, longest {longest:.1f} s")
        return "; ".join(said)


class KilledNode(HungNode):
    name = f"a node is killed, and started {SECONDS_DOWN} seconds later, and {CALLERS} callers ask it"

    async def lose(self) -> None:
        self.node.kill()

    async def find(self) -> None:
        await asyncio.to_thread(self.node.start)


class MovedWorkspace(HungNode):
    """The command is killed first: nothing of that may be in the way of the move that follows."""

    name = "a workspace is moved to another node, after a first attempt that is killed"
    callers = 2

    async def strike(self, stage: Stage) -> None:
        assert stage.site.cluster is not None
        target = next(node for node in stage.site.cluster.nodes[1:] if node is not self.node)
        move = ("workspaces", "move", stage.site.tenant.slug, f"127.0.0.1:{target.port}")
        command = stage.site.command()
        with command.start(*move, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            assert process.stderr is not None
            # The second line is the first that it has of the move itself.
            for _ in range(2):
                await asyncio.to_thread(process.stderr.readline)
            process.kill()
        while "Shards are being moved" in (ended := await asyncio.to_thread(command.run, *move)).stderr:
            pass
        assert ended.status == 0, ended.stderr
        assert sum(int(node.psql(LEFT_BY_MOVES, DATABASE)) for node in stage.site.cluster.nodes) == 0
