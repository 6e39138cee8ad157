"""The shares and customers with the highest totals, and the events by name."""

from dataclasses import dataclass
from typing import Any

from gateway.web.charts.numbers import Measure
from gateway.web.dashboard.metrics.question import Question
from gateway.web.kit.visits import Visit
from resolvers.events.events import list_event_names
from resolvers.metrics.metrics import get_metrics
from schema.metrics.metrics import MetricGroup, Metrics
from schema.workspaces.workspaces import Workspace
from storage.metrics.definitions import Unit
from storage.metrics.periods import Interval, instants_of

MOST = 8
RANKS = ("file_share_revenue", "file_share_sessions")


@dataclass(frozen=True)
class Row:
    """A line of a list: `part` is the length of its bar in per cent of the longest."""

    label: str
    address: str | None
    values: tuple[str, ...]
    part: float


@dataclass(frozen=True)
class Top:
    """A list with its heading; `columns` name the values of its rows, the first is what ranks them."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: list[Row]


async def top_groups(visit: Visit, workspace: Workspace, question: Question, by: str, rank: str) -> Top:
    """The groups with the highest totals of `rank`, as lists of their totals. Raises `Failure`."""
    arguments = question.arguments(workspace) | {
        # Only totals are shown, so periods are as few as possible.
        "interval": Interval.YEAR.value,
        "metrics": [rank, *(slug for slug in RANKS if slug != rank)],
        "group_by": by,
        "top": MOST,
    }
    arguments.pop("compare", None)
    answer: Metrics = await visit.call(get_metrics, filters=arguments)
    measures = [Measure(info.unit, answer.currency) for info in answer.metrics]
    slugs = [info.slug.value for info in answer.metrics]
    longest = max((_total(group, rank) for group in answer.groups if not group.is_rest), default=0)
    rows = [
        Row(
            label=group.label,
            address=_address(workspace, question, f"{by}_id", group),
            values=tuple(
                measure.full(_total(group, slug)) for measure, slug in zip(measures, slugs, strict=True)
            ),
            part=0 if group.is_rest or longest <= 0 else max(0.0, 100 * _total(group, rank) / longest),
        )
        for group in answer.groups
    ]
    title = f"Top {by}s"
    return Top(by, title, tuple(info.display_name for info in answer.metrics), rows)


async def events_by_name(visit: Visit, workspace: Workspace, question: Question) -> Top:
    """How many events of each name there were in the range. Raises `Failure`."""
    begins, ends = instants_of(question.start_date, question.end_date, question.timezone)
    query: dict[str, Any] = {
        "workspace_id": [str(workspace.id)],
        "start_timestamp": begins.isoformat(),
        "end_timestamp": ends.isoformat(),
        "sorting": ["-occurrences"],
        "limit": MOST,
    }
    if question.customer_id is not None:
        query["customer_id"] = [question.customer_id]
    names = (await visit.call(list_event_names, filters=query)).data
    longest = max((each.occurrences for each in names), default=0)
    counted = Measure(Unit.COUNT, workspace.default_presentment_currency)
    rows = [
        Row(each.name, None, (counted.full(each.occurrences),), 100 * each.occurrences / longest)
        for each in names
    ]
    return Top("event", "Events by name", ("Events",), rows)


def _total(group: MetricGroup, slug: str) -> float:
    return float(getattr(group.totals, slug) or 0)


def _address(workspace: Workspace, question: Question, parameter: str, group: MetricGroup) -> str | None:
    """The dashboard of the group alone."""
    if group.key is None:
        return None
    return f"/{workspace.slug}/dashboard?{question.address(**{parameter: group.key})}"
