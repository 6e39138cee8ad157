"""What happened with a record in the last 30 days: the figures above its page, each with its chart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gateway.web.dashboard.metrics.cards import Charts
from gateway.web.dashboard.metrics.drawn import Card
from gateway.web.dashboard.metrics.question import read_question
from gateway.web.dashboard.parts import attempt
from gateway.web.kit.visits import Visit
from resolvers.metrics.metrics import get_metrics
from schema.workspaces.workspaces import Workspace

MEASURED = ("file_share_revenue", "file_share_sessions", "file_share_downloads")


@dataclass(frozen=True)
class Activity:
    """The cards of some metrics; `address` is the dashboard of the record."""

    charts: Charts
    cards: Sequence[Card]
    address: str


async def activity_of(visit: Visit, workspace: Workspace, filter_name: str, record: Any) -> Activity | None:
    """None where nothing happened, and for a member who may not read metrics."""
    question, _ = read_question({filter_name: str(record.id)}, workspace)
    arguments = question.arguments(workspace)
    part = await attempt(visit.call(get_metrics, filters={**arguments, "metrics": list(MEASURED)}))
    if part.content is None:
        return None
    charts = Charts(question, arguments, part.content, workspace)
    if charts.is_empty and not charts.others:
        return None
    cards = [charts.card(slug) for slug in MEASURED]
    return Activity(charts, cards, f"/{workspace.slug}/dashboard?{question.address()}")
