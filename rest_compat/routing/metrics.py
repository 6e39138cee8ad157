"""Writes metrics as JSON with thousands of periods, and as a CSV file."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from itertools import repeat
from typing import Any, ClassVar

import orjson
from starlette.requests import Request

from resolvers.operations.answers import Answer
from resolvers.operations.context import Context
from resolvers.operations.security_events import note_export
from rest_compat.routing.endpoint import OperationEndpoint
from schema.kit.base import Output
from schema.kit.columns import as_column_list
from schema.metrics.metrics import MeasuredRange, Metrics, MetricsComparison
from schema.values.scalars import write_number
from schema.values.spreadsheets import CsvFormat, harmless


class CsvEndpoint(OperationEndpoint):
    """A row for each period, then the totals, then the totals in each other currency; so for each group."""

    media_type: ClassVar[str] = "text/csv; charset=utf-8"
    headers: Mapping[str, str] = {"Content-Disposition": 'attachment; filename="metrics.csv"'}
    may_assume = False

    async def answer(self, ctx: Context, request: Request) -> Answer:
        answer = await super().answer(ctx, request)
        note_export(ctx.caller)
        return answer

    def body_of(self, result: Metrics, arguments: Mapping[str, Any]) -> bytes:
        return _table(result, arguments["filters"].format).encode()


class LongEndpoint(OperationEndpoint):
    """The same JSON as other routes, with a faster writer for thousands of periods."""

    def body_of(self, result: Metrics, arguments: Mapping[str, Any]) -> bytes:
        return orjson.dumps(_written(result))


def _written(measured: MeasuredRange) -> dict[str, Any]:
    """A range with the rows of its periods, and those of its groups and comparison."""
    rest = measured.model_dump(mode="json", exclude={"periods", "groups", "comparison"})
    written = {"periods": as_column_list(measured.periods).rows(), **rest}
    if isinstance(measured, Metrics | MetricsComparison):
        written["groups"] = [_written(group) for group in measured.groups]
    if isinstance(measured, Metrics):
        comparison = measured.comparison
        written["comparison"] = None if comparison is None else _written(comparison)
    return written


def _table(result: Metrics, format: CsvFormat) -> str:
    """With columns for the range and the group, if there are several; these are the texts of others."""
    slugs = [metric.slug.value for metric in result.metrics]
    leading = ([] if result.comparison is None else ["range"]) + (["group", "label"] if result.groups else [])
    written = StringIO()
    table = csv.writer(written)
    table.writerow([*leading, "timestamp", "currency", *slugs])
    for described, part, currency in _parts(result):
        own = [described[name] for name in leading]
        if format is CsvFormat.SPREADSHEET:
            own = [*map(harmless, own)]
        periods = as_column_list(part.periods)
        columns = [*map(repeat, own), periods.column("timestamp"), repeat(currency)]
        table.writerows(zip(*columns, *map(periods.column, slugs), strict=False))
        table.writerow([*own, "totals", currency, *_numbers(part.totals, slugs)])
        if part is result:
            for money in result.other_currencies:
                table.writerow([*own, "totals", money.currency.value, *_numbers(money, slugs)])
    return written.getvalue()


def _parts(result: Metrics) -> Iterator[tuple[dict[str, str], MeasuredRange, str]]:
    """Each range and its groups, with what the leading columns say and its currency."""
    ranges: list[tuple[str, Metrics | MetricsComparison]] = [("asked", result)]
    if result.comparison is not None:
        ranges.append(("compared", result.comparison))
    for name, measured in ranges:
        yield {"range": name, "group": "", "label": ""}, measured, result.currency.value
        for group in measured.groups:
            described = {"range": name, "group": group.key or "", "label": group.label}
            yield described, group, group.currency.value


def _numbers(values: Output, slugs: Sequence[str]) -> Iterator[float | str]:
    for slug in slugs:
        number = getattr(values, slug, None)
        yield "" if number is None else write_number(number)
