"""Samples of metrics: as one process has them, as processes exchange them, and as they combine."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import orjson

from gateway.monitoring.declarations import METRICS, Combine, Kind

_DECLARED = {metric.name: metric for metric in METRICS}
_FUNCTIONS: dict[Combine, Callable[[Iterable[float]], float]] = {
    Combine.SUM: sum,
    Combine.LEAST: min,
    Combine.MOST: max,
}


class Sample(NamedTuple):
    """The number of a metric for values of its labels.

    A histogram has its sum, and how many are in each bucket, the last of which has no upper bound.
    """

    metric: str
    labels: tuple[str, ...]
    numbers: Sequence[float]


def packed(samples: Iterable[Sample]) -> bytes:
    return orjson.dumps([tuple(sample) for sample in samples])


def unpacked(content: bytes) -> list[Sample]:
    rows: list[Any] = orjson.loads(content)
    return [Sample(metric, tuple(labels), numbers) for metric, labels, numbers in rows]


def lasting(samples: Iterable[Sample]) -> list[Sample]:
    """The samples that a process leaves behind when it ends: all but gauges."""
    return [sample for sample in samples if _DECLARED[sample.metric].kind is not Kind.GAUGE]


def combined(samples: Iterable[Sample]) -> list[Sample]:
    """One sample for each metric and its labels."""
    groups: dict[tuple[str, tuple[str, ...]], list[Sequence[float]]] = {}
    for metric, labels, numbers in samples:
        groups.setdefault((metric, labels), []).append(numbers)
    return [
        Sample(
            metric,
            labels,
            [_FUNCTIONS[_DECLARED[metric].combine](column) for column in zip(*rows, strict=True)],
        )
        for (metric, labels), rows in groups.items()
    ]
