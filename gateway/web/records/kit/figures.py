"""Columns of a list with what happened with each of its records in the last 30 days."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from gateway.web.charts.numbers import Measure
from gateway.web.dashboard.metrics.question import read_question
from gateway.web.dashboard.parts import attempt
from gateway.web.kit.visits import Visit
from gateway.web.records.kit.cells import NOTHING, Cell, Column, Shown, money
from resolvers.metrics.totals import get_last_seen, get_totals
from schema.workspaces.workspaces import Workspace
from storage.enums import Currency
from storage.metrics.definitions import BY_SLUG, Unit
from storage.metrics.periods import Interval

_HEADINGS = {"file_share_revenue": "Revenue, 30 days", "file_share_sessions": "Sessions, 30 days"}


def _column(slug: str, heading: str) -> Column:
    return Column(slug, heading, lambda record, shown: _figure(record, shown, slug))


FIGURES = tuple(_column(slug, heading) for slug, heading in _HEADINGS.items())


# Of customers only.
LAST_SEEN = Column("last_seen", "Last seen", lambda record, shown: _figure(record, shown, "last_seen"))


def _figure(record: Any, shown: Shown, name: str) -> Cell:
    return shown.figures.get((str(record.id), name), NOTHING)


async def figures_of(
    visit: Visit, workspace: Workspace, measured_by: str, found: Sequence[Any]
) -> dict[tuple[str, str], Cell]:
    """The figures by record and metric; none for a member who may not read metrics.

    `measured_by` is the filter of metrics that selects a record. Revenue is in the currency of the record's
    price, else in the workspace's.
    """
    by_currency: defaultdict[Currency, list[str]] = defaultdict(list)
    for record in found:
        by_currency[_currency_of(record, workspace)].append(str(record.id))
    question, _ = read_question({}, workspace)
    asked = question.filters(workspace) | question.dates()
    asked |= {"interval": Interval.YEAR.value, "metrics": list(_HEADINGS)}
    asked["group_by"] = measured_by.removesuffix("_id")
    figures: dict[tuple[str, str], Cell] = {}
    for currency, ids in by_currency.items():
        filters = asked | {measured_by: ids, "currency": currency.value}
        totals = (await attempt(visit.call(get_totals, filters=filters))).content
        if totals is None:
            return {}
        for key, by_slug in totals.items():
            for slug, total in by_slug.items():
                figures[str(key), slug] = _cell(total, Measure(BY_SLUG[slug].unit, currency))
    if measured_by == "customer_id":
        ids = [str(record.id) for record in found]
        seen = await attempt(visit.call(get_last_seen, workspace_id=workspace.id, customer_ids=ids))
        figures |= {(str(id), LAST_SEEN.name): Cell("moment", at) for id, at in (seen.content or {}).items()}
    return figures


def _cell(total: float, measure: Measure) -> Cell:
    text = measure.full(total)
    if measure.unit is Unit.MONEY:
        return money(round(total), measure.currency, text)
    return Cell("figure", text, number=f"{total:g}")


def _currency_of(record: Any, workspace: Workspace) -> Currency:
    prices = getattr(record, "prices", ())
    own = prices[0].price_currency if prices else None
    return own or workspace.default_presentment_currency
