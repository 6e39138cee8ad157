"""How many webhooks a second one process delivers to a receiver that answers at once, over kept connections.

`python -m bench.live.throughput`. On each database, an endpoint is told of customers, by turns alone and
beside another with as many deliveries due whose receiver never answers. Exits with 1 if a target is missed.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import monotonic, sleep
from uuid import UUID

from sqlalchemy import update

from bench.kit import servers
from bench.kit.client import Client
from bench.kit.processes import Moment, processor_seconds
from bench.kit.report import Check
from bench.kit.servers import Server, Site
from bench.kit.wrk import Request
from bench.live.delays import report
from bench.live.receiving import HANGING, Arrivals, receiving
from storage.engine.database import Database
from storage.rows.rows import table_of
from storage.tables.webhooks.endpoints import WebhookEndpointRow

LEAST_RATE, LEAST_BESIDE = 500, 0.9
LONGEST_WAIT = 120
TURNS = 5
_endpoints = table_of(WebhookEndpointRow)


@dataclass(frozen=True)
class Rate:
    """Webhooks a second, milliseconds of the processor for each, and how many cores others took."""

    a_second: float
    gateway_ms: float
    database_ms: float
    others: float


@dataclass(frozen=True)
class Telling:
    """A gateway whose workspace has `many` more customers, and a receiver."""

    site: Site
    server: Server
    client: Client
    arrivals: Arrivals
    many: int

    def begin(self, path: str) -> str:
        """Begin to tell a new endpoint of all of them; its id."""
        body = {"url": f"{self.arrivals.address}{path}", "kinds": ["customer.created"]}
        id: str = self.client.post("/api/webhook-endpoints/", body)["webhook_endpoint"]["id"]
        asyncio.run(self._rewind(UUID(id)))
        return id

    async def _rewind(self, id: UUID) -> None:
        database = Database(self.site.database_url, pool_size=1)
        async with database.write() as connection:
            await connection.execute(update(_endpoints).where(_endpoints.c.id == id).values(position=0))
        await database.close()

    def wait(self, path: str, many: int) -> None:
        end = monotonic() + LONGEST_WAIT
        while (told := len(self.arrivals.moments[path])) < many:
            if monotonic() > end:
                raise SystemExit(f"{path} was told {told} of {many}.")
            sleep(0.02)

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """An endpoint whose receiver never answers; all its deliveries are due when the block begins."""
        id = self.begin(HANGING)
        made = f"/api/webhook-deliveries/?endpoint_id={id}&limit=1"
        while self.client.get(made)["meta"]["total"] < self.many:
            sleep(0.1)
        self.wait(HANGING, 1)
        yield
        self.client.answer(Request("DELETE", f"/api/webhook-endpoints/{id}"))
        while self.arrivals.hanging:
            sleep(0.1)
        self.arrivals.moments.pop(HANGING)

    def rate(self, path: str) -> Rate:
        """What telling a new endpoint takes, from the first arrival to the last."""
        id = self.begin(path)
        self.wait(path, 1)
        first, already, begun = monotonic(), len(self.arrivals.moments[path]), Moment.now()
        pids = self.site.processes(self.server)
        before = [processor_seconds(pid) for pid in pids]
        self.wait(path, self.many)
        told, seconds = self.many - already, monotonic() - first
        used = [processor_seconds(pid) - old for pid, old in zip(pids, before, strict=True)]
        others = begun.cores_of_others(Moment.now(), sum(used))
        gateway, database = (1000 * each / told for each in (*used, 0.0)[:2])
        self.client.answer(Request("DELETE", f"/api/webhook-endpoints/{id}"))
        return Rate(told / seconds, gateway, database, others)


def measure(database: str, many: int, seconds: float) -> Iterator[Check]:
    with (
        servers.site(database) as site,
        receiving() as arrivals,
        servers.gateway(site, DUOGRAPH_WEBHOOK_ALLOW="127.0.0.0/8") as server,
    ):
        client = Client(server.address, site.token)
        for number in range(many):
            client.post("/api/customers/", {"email": f"told{number}@example.com"})
        servers.vacuum(site)
        telling = Telling(site, server, client, arrivals, many)
        telling.rate("/first")
        alone, beside = [], []
        for turn in range(TURNS):
            alone.append(telling.rate(f"/alone{turn}"))
            with telling.hanging():
                beside.append(telling.rate(f"/beside{turn}"))
        yield from _checks(alone, database, "alone")
        yield from _checks(beside, database, "beside one that hangs")
        rates = [one.a_second / other.a_second for one, other in zip(beside, alone, strict=True)]
        yield Check("beside / alone", f"{database}, {TURNS} turns", [median(rates)], least=LEAST_BESIDE)
        times = [
            (one.gateway_ms + one.database_ms) / (other.gateway_ms + other.database_ms)
            for one, other in zip(beside, alone, strict=True)
        ]
        yield Check("time of the processor, beside / alone", database, [median(times)], most=1 / LEAST_BESIDE)
        client.close()


def _checks(rates: Sequence[Rate], database: str, how: str) -> Iterator[Check]:
    where = f"{database}, {how}; others took {median(each.others for each in rates):.1f} cores"
    yield Check("webhooks/s", where, [median(each.a_second for each in rates)], least=LEAST_RATE)
    yield Check("gateway, ms of the processor for each", where, [median(each.gateway_ms for each in rates)])
    yield Check("database, ms of the processor for each", where, [median(each.database_ms for each in rates)])


if __name__ == "__main__":
    report(__doc__, measure, rate=3000)
