"""`/api/metrics/`, and the same answer as a table to download."""

import csv
from io import StringIO
from typing import ClassVar

from fastapi import Request, Response

from resolvers import metrics
from resolvers.context import Context
from rest_compat.router import OperationRoute, Router
from schema.base import Output
from schema.metrics import Metrics
from schema.scalars import write_number
from storage.enums import Currency


class Csv(Response):
    """A table for a spreadsheet."""

    media_type = "text/csv"


class CsvRoute(OperationRoute):
    """The periods in rows; then `totals`, and a row of money for each other currency."""

    writes: ClassVar[type[Response]] = Csv

    def _answer(self, request: Request, ctx: Context, result: Metrics) -> Response:
        headers = {"Content-Disposition": 'attachment; filename="metrics.csv"'}
        return Csv(_table(result), headers=headers)


def _table(result: Metrics) -> str:
    slugs = [metric.slug.value for metric in result.metrics]
    written = StringIO()
    table = csv.writer(written)
    table.writerow(["timestamp", "currency", *slugs])
    rows: list[tuple[str, Currency, Output]] = [
        (period.timestamp, result.currency, period) for period in result.periods
    ]
    rows += [("totals", result.currency, result.totals)]
    rows += [("totals", money.currency, money) for money in result.other_currencies]
    for name, currency, values in rows:
        numbers = (getattr(values, slug, None) for slug in slugs)
        table.writerow(
            [name, currency.value, *("" if item is None else write_number(item) for item in numbers)]
        )
    return written.getvalue()


router = Router("/metrics", "Metrics")
router.get("/", metrics.get_metrics)
router.get("/limits", metrics.get_metrics_limits)
router.get("/export", metrics.get_metrics, name="export_metrics", route_class=CsvRoute)
