"""Refusals are short and nothing fails; work grows no faster than what is sent, and nobody waits meanwhile.

`make growth CASES=20000` runs many more cases than `make test` does, from a seed of choice, and only there
do times count.
"""

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.growth.measuring import Cost, Meter
from tests.growth.requests import REQUESTS, Growing
from tests.support.servers.live import serve

CASES = int(os.environ.get("CASES", "150"))
TIMES_COUNT = "CASES" in os.environ
SEED = int(os.environ.get("SEED", "10"))
FASTER_THAN_SIZE = 1.5
HEALTH_SECONDS = 0.25
LARGEST_REFUSAL = 256 * 1024
# Less than this is noise: one pass of the collector, or of a background task, in the same loop.
NOISE_SECONDS = 0.006
# Processors that are busy elsewhere delay a case for seconds; only what stays so is a fault of ours.
ATTEMPTS = 40
LONGEST_PAUSE_SECONDS = 0.5
SHOWN_EVERY = 250
FACTORS = (1, 4, 16)


@dataclass
class Figures:
    """The worst of all cases, for those who run many."""

    cases: int = 0
    rejected: int = 0
    repeated: int = 0
    fastest_growth: float = 0
    longest_health: float = 0
    largest_refusal: int = 0
    most_processor: float = 0
    started: float = field(default_factory=time.monotonic)

    def __str__(self) -> str:
        return (
            f"{self.cases} cases in {time.monotonic() - self.started:.0f} s, {self.rejected} refused. "
            f"Processor time grew at most {self.fastest_growth:.2f} times as fast as size, to at most "
            f"{self.most_processor * 1000:.0f} ms; /health took at most {self.longest_health * 1000:.0f} ms; "
            f"the largest refusal had {self.largest_refusal} bytes; {self.repeated} were measured again."
        )


@pytest.fixture(scope="module")
def meter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Meter]:
    folder = tmp_path_factory.mktemp("growth")
    url = f"sqlite+aiosqlite:///{folder}/duograph.sqlite"
    with serve(url, folder / "objects", access_log=False) as (address, tenant):
        tokens = {"none": None, "wrong": "dg_wat_x"}
        yield Meter(address, tokens | {"workspace": tenant.token, "personal": tenant.personal_token})


@pytest.fixture(scope="module")
def figures() -> Iterator[Figures]:
    kept = Figures()
    yield kept
    show(kept)


def show(figures: Figures | str) -> None:
    print(figures, file=sys.__stderr__, flush=True)


@seed(SEED)
@settings(
    max_examples=CASES,
    database=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
@given(request=REQUESTS, size=st.integers(3, 40))
def test_work_grows_no_faster_than_what_is_sent(
    meter: Meter, figures: Figures, request: Growing, size: int
) -> None:
    costs = [measured(meter, request, size, factor) for factor in FACTORS]
    figures.repeated += bool(faults_of(costs))
    for attempt in range(ATTEMPTS if TIMES_COUNT else 1):
        if not (faults := faults_of(costs)):
            break
        time.sleep(min(attempt / 20, LONGEST_PAUSE_SECONDS))
        again = [measured(meter, request, size, factor) for factor in FACTORS]
        costs = list(map(quieter, costs, again))
    note(figures, costs)
    assert not faults, f"{faults}: {request!r} at {size}: {[summary(cost) for cost in costs]}"


def faults_of(costs: list[Cost]) -> list[str]:
    faults = []
    if TIMES_COUNT and growth(costs) > FASTER_THAN_SIZE:
        faults.append("processor time grows faster than size")
    if TIMES_COUNT and max(waited_for_us(cost) for cost in costs) > HEALTH_SECONDS:
        faults.append("/health waits")
    if any(cost.is_rejected and len(cost.answer) > LARGEST_REFUSAL for cost in costs):
        faults.append("a refusal is large")
    if any(cost.status >= 500 for cost in costs):
        faults.append("a failure of ours")
    return faults


def waited_for_us(cost: Cost) -> float:
    """How long `/health` waited for the gateway's loop, which cannot be longer than the loop was at work.

    The rest is what the machine gave to other processes.
    """
    return min(cost.health, cost.processor)


def growth(costs: list[Cost]) -> float:
    """How many times as fast as size processor time grows between any two of the sizes."""
    pairs = [(small, large) for index, small in enumerate(costs) for large in costs[index + 1 :]]
    return max(
        (large.processor / max(small.processor, NOISE_SECONDS)) / max(large.size / small.size, 1)
        for small, large in pairs
    )


def measured(meter: Meter, request: Growing, size: int, factor: int) -> Cost:
    return meter.measure(request, size * factor, probed=factor == FACTORS[-1])


def quieter(first: Cost, second: Cost) -> Cost:
    """The same request, sent twice: the least of each figure, as the machine does other work beside it."""
    return Cost(
        first.size,
        min(first.processor, second.processor),
        min(first.health, second.health),
        second.status,
        second.answer,
    )


def note(figures: Figures, costs: list[Cost]) -> None:
    figures.cases += 1
    figures.rejected += costs[-1].is_rejected
    figures.fastest_growth = max(figures.fastest_growth, growth(costs))
    figures.longest_health = max(figures.longest_health, *(waited_for_us(cost) for cost in costs))
    figures.most_processor = max(figures.most_processor, *(cost.processor for cost in costs))
    refusals = [len(cost.answer) for cost in costs if cost.is_rejected]
    figures.largest_refusal = max([figures.largest_refusal, *refusals])
    if figures.cases % SHOWN_EVERY == 0:
        show(figures)


def summary(cost: Cost) -> str:
    answer = cost.answer[:200].decode(errors="replace")
    return (
        f"{cost.size} bytes {cost.processor * 1000:.1f} ms, /health {cost.health * 1000:.0f} ms, "
        f"{cost.status} with {len(cost.answer)} bytes {answer!r}"
    )
