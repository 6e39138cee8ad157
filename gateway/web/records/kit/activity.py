"""What happened with a record in the last 30 days: the figures above its page, each with its chart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gateway.web.dashboard.metrics.cards import Charts
from gateway.web.dashboard.metrics.drawn import Card
from gateway.web.dashboard.metrics.question import read_question
from gateway.web.dashboard.parts import attempt
from gateway.web.kit.visits import Visit
from gateway.web.records.kit.figures import own_currency
from resolvers.metrics.metrics import get_metrics
from schema.workspaces.workspaces import Workspace
from storage.enums import Currency

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
