"""Measures requests by turns: the servers take turns of a few seconds, so that all see the same noise."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from time import monotonic, sleep

from bench import wrk
from bench.processes import QUIET_CORES, Moment, processor_seconds
from bench.servers import Server
from bench.wrk import Load, Request

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


@dataclass(frozen=True)
class Slice:
    """A few seconds of one server: microseconds of processor time for each request, and the load.

    `others` is the number of cores that processes outside the measurement used meanwhile.
    """

    server: float
    database: float
    load: Load
    others: float

    @property
    def processor(self) -> float:
        return self.server + self.database


@dataclass(frozen=True)
class Figures:
    """The slices of one server."""

    slices: Sequence[Slice]

    @classmethod
    def joined(cls, parts: "Iterable[Figures]") -> "Figures":
        return cls([each for figures in parts for each in figures.slices])

    def median(self, value: Callable[[Slice], float]) -> float:
        return median(value(each) for each in self.slices)

    @property
    def server(self) -> float:
        return self.median(lambda each: each.server)

    @property
    def database(self) -> float:
        return self.median(lambda each: each.database)

    @property
    def processor(self) -> float:
        return self.median(lambda each: each.processor)

    @property
    def rate(self) -> float:
        return self.median(lambda each: each.load.rate)

    @property
    def p50(self) -> float:
        return self.median(lambda each: each.load.p50)

    @property
    def p99(self) -> float:
        return self.median(lambda each: each.load.p99)

    @property
    def others(self) -> float:
        return self.median(lambda each: each.others)

    @property
    def is_quiet(self) -> bool:
        return self.others <= QUIET_CORES


def ratio(numerator: Figures, denominator: Figures) -> float:
    """The median, over the rounds, of the ratio of processor times: each is of neighbouring moments."""
    pairs = zip(numerator.slices, denominator.slices, strict=True)
    return median(above.processor / below.processor for above, below in pairs)


def measure(
    sides: Sequence[Side],
    database_pid: int | None,
    rounds: int,
    seconds: float,
    rest: Callable[[], None] | None = None,
) -> list[Figures]:
    """The figures of each side. All sides are warmed up before the first round.

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
            own.append(_slice(side, database_pid, seconds, PAUSE_BETWEEN_FOLDS if rest else PAUSE_SECONDS))
    return [Figures(own) for own in slices]


def settle(pids: Sequence[int], pause: float, most_seconds: float) -> None:
    """Wait until the processes are idle: until they use hardly any processor time in a pause."""
    until, before = monotonic() + most_seconds, -pause
    while (now := sum(map(processor_seconds, pids))) - before > IDLE_PART * pause and monotonic() < until:
        before = now
        sleep(pause)


def _slice(side: Side, database_pid: int | None, seconds: float, pause: float) -> Slice:
    def used() -> tuple[float, float]:
        database = processor_seconds(database_pid) if database_pid is not None else 0.0
        return processor_seconds(side.server.pid), database

    moment, before = Moment.now(), used()
    load = wrk.run(side.server.address, side.token, side.request, seconds)
    settle([side.server.pid], pause, MOST_SECONDS_TO_FOLD)
    after, later = used(), Moment.now()
    server, database = after[0] - before[0], after[1] - before[1]
    # Every connection had one request under way when wrk closed it; the server has answered it by now. Left
    # out, they would make a slow server seem slower.
    per_request = 1e6 / (load.requests + wrk.CONNECTIONS)
    others = moment.cores_of_others(later, server + database)
    return Slice(server * per_request, database * per_request, load, others)
