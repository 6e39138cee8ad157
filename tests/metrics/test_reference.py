"""Every metric is told by the reference that answers are compared with."""

from datetime import UTC, datetime

from storage.metrics.definitions import BY_SLUG
from tests.metrics.histories import History
from tests.metrics.reference import View, values


def test_each_metric_has_its_reference():
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    told = values(View(History([], [], {}), set(), None, None, "eur"), moment, moment, moment)
    missing = sorted(BY_SLUG.keys() - told.keys())
    assert not missing, f"Say in `values` of tests/metrics/reference.py what these metrics count: {missing}"
    unknown = sorted(told.keys() - BY_SLUG.keys())
    assert not unknown, f"No metric has these names of tests/metrics/reference.py: {unknown}"
