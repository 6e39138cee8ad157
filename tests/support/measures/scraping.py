"""The metrics of a gateway, as Prometheus reads them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import httpx
from prometheus_client.parser import text_string_to_metric_families


@dataclass(frozen=True)
class Scraped:
    """The samples of one answer, with the names and kinds of the metrics."""

    text: str
    kinds: Mapping[str, str]
    samples: Mapping[tuple[str, frozenset[tuple[str, str]]], float]

    @classmethod
    def of(cls, answer: httpx.Response) -> "Scraped":
        assert answer.status_code == 200
        families = list(text_string_to_metric_families(answer.text))
        samples = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in families
            for sample in family.samples
        }
        return cls(answer.text, {family.name: family.type for family in families}, samples)

    def value(self, name: str, **labels: str) -> float:
        """The sample with these labels; 0 if there is none yet."""
        return self.samples.get((name, frozenset(labels.items())), 0)

    def total(self, name: str) -> float:
        return sum(value for (of, _), value in self.samples.items() if of == name)

    def values_of(self, label: str) -> set[str]:
        """All values of a label."""
        return {value for _, labels in self.samples for key, value in labels if key == label}


def difference(before: Scraped, after: Scraped) -> Callable[..., float]:
    """How much a sample has grown."""
    return lambda name, **labels: after.value(name, **labels) - before.value(name, **labels)
