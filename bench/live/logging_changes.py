"""What the change log costs who creates a customer, and who reads one.

`python -m bench.live.logging_changes`. On each database, pairs of gateways answer the same requests by
turns, one of each pair writes no log: processor time of gateway and database. Exits with 1 if a target is
missed.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, cycle
from pathlib import Path
from statistics import median
from uuid import uuid4

from bench.kit import servers
from bench.kit.client import Client
from bench.kit.options import options
from bench.kit.processes import Moment, machine, processor_seconds, versions
from bench.kit.report import Check, table
from bench.kit.servers import Server, Site

WITHOUT_LOG = (sys.executable, str(Path(__file__).with_name("without_log.py")))
MOST_OF_A_CREATION, MOST_OF_A_READ = 1.12, 1.02

# A request, by a client.
Asking = Callable[[Client], object]


def create(client: Client) -> object:
    return client.post("/api/customers/", {"email": f"{uuid4().hex}@example.com"})


def microseconds(site: Site, server: Server, client: Client, ask: Asking, requests: int) -> float:
    """Processor time for each request."""

    def used() -> float:
        return sum(processor_seconds(pid) for pid in site.processes(server))

    before = used()
    for _ in range(requests):
        ask(client)
    return (used() - before) / requests * 1e6


def measure(database: str, rounds: int, requests: int) -> Iterator[Check]:
    with (
        servers.site(database) as site,
        servers.gateway(site) as first_logging,
        servers.gateway(site, command=WITHOUT_LOG) as second_silent,
        servers.gateway(site, command=WITHOUT_LOG) as third_silent,
        servers.gateway(site) as last_logging,
    ):
        # The gateway that starts first sends the seed's mails, and takes some percent more for a read after.
        pairs = [
            [(server, Client(server.address, site.token)) for server in pair]
            for pair in ((first_logging, second_silent), (last_logging, third_silent))
        ]
        id = pairs[0][0][1].post("/api/customers/", {"email": "read@example.com"})["id"]

        def read(client: Client) -> object:
            return client.get(f"/api/customers/{id}")

        for what, ask, most in (("create", create, MOST_OF_A_CREATION), ("read", read, MOST_OF_A_READ)):
            for server, client in chain(*pairs):
                microseconds(site, server, client, ask, requests)
            both = []
            for turn, sides in zip(range(rounds), cycle(pairs), strict=False):
                # Who comes first changes, as what else the machine does may grow or shrink all the time.
                order = sides[:: 1 if turn // 2 % 2 else -1]
                taken = [microseconds(site, server, client, ask, requests) for server, client in order]
                both.append(taken if order == sides else taken[::-1])
            yield _check(what, database, both, most)


def _check(what: str, database: str, both: Sequence[Sequence[float]], most: float) -> Check:
    logging, silent = (median(each) for each in zip(*both, strict=True))
    where = f"{database}, {logging:,.0f} and {silent:,.0f} us"
    return Check(f"{what} with / without a log", where, [median(a / b for a, b in both)], most=most)


def main() -> None:
    arguments = options(__doc__, rounds=24, requests=400, only=["postgresql", "sqlite"])
    print(f"{versions()}; {machine()}.\n")
    begun = Moment.now()
    checks = [
        check for each in arguments.only for check in measure(each, arguments.rounds, arguments.requests)
    ]
    passed = Moment.now()
    others = (passed.busy - begun.busy) / (passed.clock - begun.clock)
    print(f"The machine's cores were busy by {others:.1f}.\n")
    header = ["what", "where", "figure", "target", ""]
    print(table(header, [[each.what, each.where, *each.cells] for each in checks]))
    sys.exit(not all(check.is_met for check in checks))


if __name__ == "__main__":
    main()
