"""The metrics of a process in Prometheus's library; several processes of a gateway share theirs in files."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, values
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from gateway.monitoring.declarations import BOUNDS, METRICS, Kind, Metric

# Where the library looks for the files.
FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


class Shared:
    """The folder of the files, known before processes are forked; `place` is that of this process.

    A process that is killed leaves its counters in the files of its place, and the next one on the place goes
    on from them.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.place: int | None = None

    def take(self, place: int) -> None:
        """Begin on a place whose last process has ended."""
        self.place = place

    def free(self, place: int) -> None:
        """Note that the process of the place has ended: its gauges no longer hold."""
        mark_process_dead(place, self.path)  # type: ignore[no-untyped-call]


class Meters:
    """Counts for one process. With `shared`, the text has the numbers of all processes."""

    def __init__(self, shared: Shared | None) -> None:
        self._shared = shared
        if shared is not None:
            os.environ[FOLDER_VARIABLE] = str(shared.path)
            values.ValueClass = values.MultiProcessValue(lambda: shared.place)  # type: ignore[no-untyped-call]
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        self._meters = {metric.name: _meter(metric, self._registry) for metric in METRICS}
        self._children: dict[tuple[str, Sequence[str]], Any] = {}
        self._told: dict[tuple[str, Sequence[str]], float] = {}

    def count(self, metric: Metric, labels: Sequence[str]) -> None:
        self._child(metric, labels).inc()

    def observe(self, metric: Metric, labels: Sequence[str], seconds: float) -> None:
        self._child(metric, labels).observe(seconds)

    def tell(self, metric: Metric, number: float, *labels: str) -> None:
        """The number of a gauge, or of a counter that this process counts elsewhere."""
        child = self._child(metric, labels)
        if metric.kind is Kind.GAUGE:
            child.set(number)
        else:
            child.inc(number - self._told.get((metric.name, labels), 0))
            self._told[metric.name, labels] = number

    def written(self, accept: str) -> tuple[bytes, str]:
        """The text of `/metrics` and its media type, in the format that the header `Accept` prefers."""
        encode, media_type = choose_encoder(accept)
        registry = self._registry
        if self._shared is not None:
            registry = CollectorRegistry()
            MultiProcessCollector(registry, str(self._shared.path))  # type: ignore[no-untyped-call]
        return encode(registry), media_type

    def _child(self, metric: Metric, labels: Sequence[str]) -> Any:
        child = self._children.get((metric.name, labels))
        if child is None:
            meter = self._meters[metric.name]
            child = self._children[metric.name, labels] = meter.labels(*labels) if labels else meter
        return child


def _meter(metric: Metric, registry: CollectorRegistry) -> Counter | Gauge | Histogram:
    described = metric.name, metric.description, metric.labels
    match metric.kind:
        case Kind.COUNTER:
            return Counter(*described, registry=registry)
        case Kind.GAUGE:
            # The number of a process ends with it.
            mode: Any = f"live{metric.combine}"
            return Gauge(*described, registry=registry, multiprocess_mode=mode)
        case Kind.HISTOGRAM:
            return Histogram(*described, registry=registry, buckets=BOUNDS)
