"""The text of `/metrics`, as Prometheus's own library writes it."""

from collections.abc import Iterable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector, CollectorRegistry

from gateway.monitoring import declarations
from gateway.monitoring.declarations import BOUNDS, METRICS, Kind
from gateway.monitoring.numbers import Sample


def written(samples: Iterable[Sample], accept: str) -> tuple[bytes, str]:
    """The samples and their media type, in the format that the header `Accept` prefers."""
    encode, media_type = choose_encoder(accept)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Samples(samples))
    return encode(registry), media_type


class _Samples(Collector):
    def __init__(self, samples: Iterable[Sample]) -> None:
        self._samples = samples

    def collect(self) -> Iterator[Metric]:
        by_metric: dict[str, list[Sample]] = {}
        for sample in self._samples:
            by_metric.setdefault(sample.metric, []).append(sample)
        for metric in METRICS:
            yield _family(metric, by_metric.get(metric.name, ()))


def _family(metric: declarations.Metric, samples: Iterable[Sample]) -> Metric:
    if metric.kind is Kind.HISTOGRAM:
        histogram = HistogramMetricFamily(metric.name, metric.description, labels=metric.labels)
        for _, labels, (total, *buckets) in samples:
            histogram.add_metric(labels, list(_cumulative(buckets)), total)
        return histogram
    of_kind = CounterMetricFamily if metric.kind is Kind.COUNTER else GaugeMetricFamily
    family = of_kind(metric.name, metric.description, labels=metric.labels)
    for _, labels, (number,) in samples:
        family.add_metric(labels, number)
    return family


def _cumulative(buckets: Iterable[float]) -> Iterator[tuple[str, float]]:
    """Each upper bound with how many are below it."""
    many = 0.0
    for bound, count in zip([*map(str, BOUNDS), "+Inf"], buckets, strict=True):
        many += count
        yield bound, many
