"""Measures requests by turns: the servers take turns of a few seconds, so that all see the same noise."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from time import monotonic, sleep
from typing import NamedTuple

from bench.kit import wrk
from bench.kit.processes import QUIET_CORES, Moment, processor_seconds
from bench.kit.servers import Server
from bench.kit.wrk import Request

# A server that uses a smaller part of a core than this is idle.
IDLE_PART = 0.04
PAUSE_SECONDS = 0.05
# Seconds. A gateway looks for something to fold twice a second.
PAUSE_BETWEEN_FOLDS, MOST_SECONDS_TO_FOLD = 0.6, 60


@dataclass(frozen=True)
class Side:
    """One of the servers in a comparison, with its request and the token to send."""

    server: Server
    request: Request
    token: str


class Slice(NamedTuple):
    """A few seconds of one server.

    Microseconds of processor time for each request, by the server, the database and both; requests a second;
    milliseconds; and the cores that processes outside the measurement used meanwhile.
    """

    server: float
    database: float
    processor: float
    rate: float
    p50: float
    p99: float
    others: float

    @property
    def is_quiet(self) -> bool:
        return self.others <= QUIET_CORES

    @property
    def times(self) -> str:
        return f"{self.server:,.0f} + {self.database:,.0f}"


Slices = Sequence[Slice]


def typical(slices: Slices) -> Slice:
    """Each figure is the median of the slices'."""
    return Slice(*map(median, zip(*slices, strict=True)))


def ratio(numerator: Slices, denominator: Slices) -> float:
    """The median, over the rounds, of the ratio of processor times: each is of neighbouring moments."""
    pairs = zip(numerator, denominator, strict=True)
    return median(above.processor / below.processor for above, below in pairs)


def measure(
    sides: Sequence[Side],
    databases: Sequence[int],
    rounds: int,
    seconds: float,
    rest: Callable[[], None] | None = None,
) -> list[Slices]:
    """The slices of each side. All sides are warmed up before the first round.

    `databases` are the first processes of the servers of their databases.

    Requests that change something leave work for later. With `rest`, which does what is left, each side pays
    for what its own requests leave and for nothing else.
    """
    slices: list[list[Slice]] = [[] for _ in sides]
    for side in sides:
        wrk.run(side.server.address, side.token, side.request, 1)
    for _ in range(rounds):
        for side, own in zip(sides, slices, strict=True):
            if rest is not None:
                rest()
            own.append(_slice(side, databases, seconds, PAUSE_BETWEEN_FOLDS if rest else PAUSE_SECONDS))
    return [*slices]


def settle(pids: Iterable[int], pause: float, most_seconds: float) -> None:
    """Wait until the processes are idle: until they use hardly any processor time in a pause."""
    until, before = monotonic() + most_seconds, -pause
    while (now := sum(map(processor_seconds, pids))) - before > IDLE_PART * pause and monotonic() < until:
        before = now
        sleep(pause)


def _slice(side: Side, databases: Sequence[int], seconds: float, pause: float) -> Slice:
    def used() -> tuple[float, float]:
        return processor_seconds(side.server.pid), sum(map(processor_seconds, databases))

    moment, before = Moment.now(), used()
    load = wrk.run(side.server.address, side.token, side.request, seconds)
    settle([side.server.pid], pause, MOST_SECONDS_TO_FOLD)
    after, later = used(), Moment.now()
    server, database = after[0] - before[0], after[1] - before[1]
    # Every connection had one request under way when wrk closed it; the server has answered it by now. Left
    # out, they would make a slow server seem slower.
    per_request = 1e6 / (load.requests + wrk.CONNECTIONS)
    times = (server * per_request, database * per_request, (server + database) * per_request)
    return Slice(*times, load.rate, load.p50, load.p99, moment.cores_of_others(later, server + database))
