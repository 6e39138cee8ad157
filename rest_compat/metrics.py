"""`/api/metrics/`, and the same answer as a CSV file."""

import csv
from collections.abc import Mapping
from io import StringIO
from itertools import repeat
from typing import ClassVar

import orjson

from resolvers import metrics
from rest_compat.endpoint import OperationEndpoint
from rest_compat.router import Router
from schema.base import Output
from schema.columns import as_column_list
from schema.metrics import Metrics
from schema.scalars import write_number


class CsvEndpoint(OperationEndpoint):
    """A row for each period, then the totals, then the totals in each other currency."""

    media_type: ClassVar[str] = "text/csv; charset=utf-8"
    headers: ClassVar[Mapping[str, str]] = {"Content-Disposition": 'attachment; filename="metrics.csv"'}

    def body_of(self, result: Metrics) -> bytes:
        return _table(result).encode()


class LongEndpoint(OperationEndpoint):
    """The same JSON as other routes, with a faster writer for thousands of periods."""

    def body_of(self, result: Metrics) -> bytes:
        rest = result.model_dump(mode="json", exclude={"periods"})
        return orjson.dumps({"periods": as_column_list(result.periods).rows(), **rest})


def _table(result: Metrics) -> str:
    slugs = [metric.slug.value for metric in result.metrics]
    periods, currency = as_column_list(result.periods), result.currency.value
    written = StringIO()
    table = csv.writer(written)
    table.writerow(["timestamp", "currency", *slugs])
    table.writerows(zip(periods.column("timestamp"), repeat(currency), *map(periods.column, slugs)))
    rows: list[tuple[str, Output]] = [(currency, result.totals)]
    rows += [(money.currency.value, money) for money in result.other_currencies]
    for name, values in rows:
        numbers = (getattr(values, slug, None) for slug in slugs)
        table.writerow(["totals", name, *("" if item is None else write_number(item) for item in numbers)])
    return written.getvalue()


router = Router("/metrics", "Metrics")
router.get("/", metrics.get_metrics, endpoint_class=LongEndpoint)
router.get("/limits", metrics.get_metrics_limits)
router.get("/export", metrics.get_metrics, name="export_metrics", endpoint_class=CsvEndpoint)
