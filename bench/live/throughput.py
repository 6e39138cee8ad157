"""How many webhooks a second one process delivers to a receiver that answers at once, over kept connections.

`python -m bench.live.throughput`. On each database, an endpoint is told of customers that exist,
alone and then beside one whose receiver never answers. Exits with 1 if a target is missed.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic, sleep
from uuid import UUID

from sqlalchemy import update

from bench.kit import servers
from bench.kit.client import Client
from bench.kit.processes import Moment, processor_seconds
from bench.kit.report import Check
from bench.kit.servers import Server, Site
from bench.live.delays import report
from bench.live.receiving import HANGING, Arrivals, receiving
from storage.engine.database import Database
from storage.rows.rows import table_of
from storage.tables.webhooks.endpoints import WebhookEndpointRow

LEAST_RATE, LEAST_BESIDE = 500, 0.9
LONGEST_WAIT = 120
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

    def begin(self, path: str) -> None:
        """Begin to tell a new endpoint of all of them."""
        body = {"url": f"{self.arrivals.address}{path}", "kinds": ["customer.created"]}
        made = self.client.post("/api/webhook-endpoints/", body)["webhook_endpoint"]
        asyncio.run(self._rewind(UUID(made["id"])))

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

    def rate(self, path: str) -> Rate:
        """What telling a new endpoint takes, from the first arrival to the last."""
        self.begin(path)
        self.wait(path, 1)
        first, already, begun = monotonic(), len(self.arrivals.moments[path]), Moment.now()
        pids = self.site.processes(self.server)
        before = [processor_seconds(pid) for pid in pids]
        self.wait(path, self.many)
        told, seconds = self.many - already, monotonic() - first
        used = [processor_seconds(pid) - old for pid, old in zip(pids, before, strict=True)]
        others = begun.cores_of_others(Moment.now(), sum(used))
        gateway, database = (1000 * each / told for each in (*used, 0.0)[:2])
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
        alone = telling.rate("/alone")
        yield from _checks(alone, database, "alone", least=LEAST_RATE)
        telling.begin(HANGING)
        telling.wait(HANGING, 1)
        beside = telling.rate("/beside")
        yield from _checks(beside, database, "beside one that hangs", least=LEAST_BESIDE * alone.a_second)
        client.close()


def _checks(rate: Rate, database: str, how: str, least: float) -> Iterator[Check]:
    where = f"{database}, {how}; others took {rate.others:.1f} cores"
    yield Check("webhooks/s", where, [rate.a_second], least=least)
    yield Check("gateway, ms of the processor for each", where, [rate.gateway_ms])
    yield Check("database, ms of the processor for each", where, [rate.database_ms])


if __name__ == "__main__":
    report(__doc__, measure, rate=3000)
