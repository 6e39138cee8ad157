"""What happened with records: columns of lists for the last 30 days, and figures since the beginning."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from gateway.web.charts.numbers import Measure
from gateway.web.dashboard.metrics.question import read_question
from gateway.web.dashboard.parts import attempt
from gateway.web.kit.visits import Visit
from gateway.web.records.kit.cells import NOTHING, Cell, Column, Shown, money
from resolvers.metrics.totals import Totals, get_last_seen, get_totals
from schema.workspaces.workspaces import Workspace
from storage.enums import Currency
from storage.metrics.definitions import BY_SLUG
from storage.metrics.periods import FIRST_DATE, Interval

REVENUE = "file_share_revenue"
_LIFETIMES = {"customer_id": "Spent", "share_id": "Revenue so far"}
_HEADINGS = {REVENUE: "Revenue, 30 days", "file_share_sessions": "Sessions, 30 days"}


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

    `measured_by` is the filter of metrics that selects a record.
    """
    question, _ = read_question({}, workspace)
    asked = question.filters(workspace) | question.dates()
    asked |= {"interval": Interval.YEAR.value, "metrics": list(_HEADINGS)}
    ids = [str(record.id) for record in found]
    asked |= {"group_by": measured_by.removesuffix("_id"), measured_by: ids}
    totals = (await attempt(visit.call(get_totals, filters=asked))).content
    if totals is None:
        return {}
    figures: dict[tuple[str, str], Cell] = {}
    for record in found:
        if (own := totals.get(record.id)) is not None:
            for slug, total in own.counts.items():
                text = Measure(BY_SLUG[slug].unit, workspace.default_presentment_currency).full(total)
                figures[str(record.id), slug] = Cell("figure", text, number=f"{total:g}")
            figures[str(record.id), REVENUE] = _revenue(own, own_currency(record, workspace))
    if measured_by == "customer_id":
        seen = await _last_seen(visit, workspace, ids)
        figures |= {(str(id), LAST_SEEN.name): Cell("moment", at) for id, at in seen.items()}
    return figures


async def lifetime_of(
    visit: Visit, workspace: Workspace, measured_by: str, record: Any
) -> list[tuple[str, Cell]]:
    """Revenue since the beginning, and when a customer was last seen, with their titles.

    None is said of what never was, or to a member who may not read metrics.
    """
    question, _ = read_question({}, workspace)
    asked = question.filters(workspace) | question.dates() | {"start_date": FIRST_DATE.isoformat()}
    asked |= {"interval": Interval.YEAR.value, "metrics": [REVENUE]}
    asked |= {"group_by": measured_by.removesuffix("_id"), measured_by: [str(record.id)]}
    totals = (await attempt(visit.call(get_totals, filters=asked))).content or {}
    said = []
    if (own := totals.get(record.id)) is not None:
        said.append((_LIFETIMES[measured_by], _revenue(own, own_currency(record, workspace))))
    if measured_by == "customer_id":
        seen = await _last_seen(visit, workspace, [str(record.id)])
        said += [(LAST_SEEN.title, Cell("moment", at)) for at in seen.values()]
    return said


async def _last_seen(visit: Visit, workspace: Workspace, ids: Sequence[Any]) -> Mapping[Any, datetime]:
    seen = await attempt(visit.call(get_last_seen, workspace_id=workspace.id, customer_ids=ids))
    return seen.content or {}


def _revenue(totals: Totals, currency: Currency) -> Cell:
    """Each currency has its own amount, and `currency` comes first."""
    amounts = {code: round(each[REVENUE]) for code, each in totals.money.items()}
    others = [money(amount, code) for code, amount in amounts.items() if code is not currency]
    own = money(amounts.get(currency, 0), currency)
    if not others:
        return own
    shown = [own, *others] if currency in amounts else others
    return Cell("amounts", shown, number=own.number, unit=own.unit)


def own_currency(record: Any, workspace: Workspace) -> Currency:
    """That of a share's price, else the workspace's."""
    prices = getattr(record, "prices", ())
    own = prices[0].price_currency if prices else None
    return own or workspace.default_presentment_currency
