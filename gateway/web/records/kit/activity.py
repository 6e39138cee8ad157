"""What happened with a record: charts of the last 30 days, and a timeline of records of several kinds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from gateway.web.dashboard.metrics.cards import Charts
from gateway.web.dashboard.metrics.drawn import Card
from gateway.web.dashboard.metrics.question import read_question
from gateway.web.dashboard.parts import attempt
from gateway.web.kit.visits import Visit
from gateway.web.records.kit.cells import NOTHING, Column, Shown
from gateway.web.records.kit.figures import own_currency
from gateway.web.records.kit.lists import Heading, Row, Table
from gateway.web.records.kit.names import names_in
from gateway.web.records.kit.records import Records, Strand
from resolvers.metrics.metrics import get_metrics
from schema.workspaces.workspaces import Workspace
from storage.enums import Currency

NEWEST = 15
_HEADINGS = ("Time", "What happened", "Share", "Amount")
_SHARE = Column("share_id")
MEASURED = ("file_share_revenue", "file_share_sessions", "file_share_downloads")


@dataclass(frozen=True)
class Activity:
    """The cards of some metrics; `address` is the dashboard of the record."""

    charts: Charts
    cards: Sequence[Card]
    address: str


async def activity_of(visit: Visit, workspace: Workspace, filter_name: str, record: Any) -> Activity | None:
    """None where nothing happened, and for a member who may not read metrics.

    Revenue is in the currency of a share's price, else in the workspace's; if there is none in this, in the
    first in which there is.
    """
    charts = await _charts(visit, workspace, filter_name, record, own_currency(record, workspace))
    if charts is None or (charts.is_empty and not charts.others):
        return None
    others = [each.currency for each in charts.answer.other_currencies if each.file_share_revenue]
    if others and not charts.answer.totals.file_share_revenue:
        charts = await _charts(visit, workspace, filter_name, record, others[0]) or charts
    cards = [charts.card(slug) for slug in MEASURED]
    return Activity(charts, cards, f"/{workspace.slug}/dashboard?{charts.question.address()}")


async def _charts(
    visit: Visit, workspace: Workspace, filter_name: str, record: Any, currency: Currency
) -> Charts | None:
    sent = {filter_name: str(record.id)}
    if currency is not workspace.default_presentment_currency:
        sent["currency"] = currency.value
    question, _ = read_question(sent, workspace)
    arguments = question.arguments(workspace)
    part = await attempt(visit.call(get_metrics, filters={**arguments, "metrics": list(MEASURED)}))
    return None if part.content is None else Charts(question, arguments, part.content, workspace)


class Counted(NamedTuple):
    """How many records there are of a kind; `address` is that of their list, or empty."""

    heading: str
    total: int
    address: str


@dataclass(frozen=True)
class Timeline:
    table: Table
    counts: Sequence[Counted]


async def timeline_of(
    visit: Visit, workspace: Workspace, every: Mapping[str, Records], strands: Sequence[Strand], record: Any
) -> Timeline:
    """The newest of all records that the strands select with this one."""
    found: list[tuple[datetime, Strand, Any]] = []
    counts, shown = [], Shown(f"/{workspace.slug}")
    for strand in strands:
        records = every[strand.path]
        selected = {strand.by: strand.filter_of(records, record)}
        newest = {"sorting": [f"-{strand.at}"], "limit": NEWEST}
        listing = await visit.call(records.find, filters=selected | newest)
        found += [(getattr(each, strand.at), strand, each) for each in listing.data]
        address = "" if records.parent else f"{shown.base}/{strand.path}?{strand.by}={record.id}"
        counts.append(Counted(strand.heading, listing.meta.total, address))
    newest_first = sorted(found, key=lambda each: each[0], reverse=True)[:NEWEST]
    shown.names.update(await names_in(visit, [each for _, _, each in newest_first]))
    rows = [_row(strand, each, shown) for _, strand, each in newest_first]
    return Timeline(Table([Heading(title) for title in _HEADINGS], rows), counts)


def _row(strand: Strand, record: Any, shown: Shown) -> Row:
    columns = (Column(strand.at), strand.says, _SHARE, strand.amount)
    cells = [column.cell(record, shown) if column else NOTHING for column in columns]
    return Row(f"{shown.base}/{strand.path}/{record.id}", cells)
