"""The dashboard of a workspace: its metrics as charts, and what happened last."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from gateway.web.dashboard.arrangement import Arrangement, arrangement_of
from gateway.web.dashboard.asked import Asked, choices_of, read_asked
from gateway.web.dashboard.metrics.cards import Charts
from gateway.web.dashboard.metrics.drawn import Card
from gateway.web.dashboard.metrics.layout import HEADLINE
from gateway.web.dashboard.metrics.queries import report_of
from gateway.web.dashboard.metrics.question import at_fields
from gateway.web.dashboard.parts import Part, Step, attempt, first_steps, latest
from gateway.web.dashboard.tops import RANKS
from gateway.web.kit.visits import Visit
from resolvers.graph.http.endpoint import GRAPHQL_PATH
from resolvers.metrics.metrics import get_metrics
from schema.errors import Invalid
from schema.metrics.metrics import Metrics
from schema.values.prose import write_amount
from schema.workspaces.workspaces import Workspace
from storage.clock import now

# How long a workspace is new: its first steps are shown until all are done.
NEW_FOR = timedelta(days=14)


async def show_dashboard(visit: Visit) -> Response:
    asked = await read_asked(visit)
    arrangement = await arrangement_of(visit, asked.workspace)
    charts: Charts | None = None
    refused: Part[Metrics] = Part(None)
    if not asked.form.problems:
        arguments = asked.question.arguments(asked.workspace)
        refused = await attempt(visit.call(get_metrics, filters=arguments))
        if isinstance(refused.failure, Invalid):
            problems = at_fields(refused.failure.problems)
            asked = replace(asked, form=replace(asked.form, problems=problems))
        elif refused.content is not None:
            charts = Charts(asked.question, arguments, refused.content, asked.workspace)
    lists = {} if asked.form.problems else await latest(visit, asked.workspace, asked.question)
    return visit.render(
        "dashboard.html",
        status_code=422 if asked.form.problems else 200,
        **choices_of(asked),
        **_cards(charts, arrangement),
        refused=refused.failure,
        latest=lists,
        tops=_tops(asked, charts),
        steps=await _steps(visit, asked, charts),
        live=_live_address(asked.workspace),
        report=report_of(visit.ctx.services.base_url),
        names={share.id: share.name for share in asked.shares.content or ()},
        amount=write_amount,
    )


def _live_address(workspace: Workspace) -> str:
    """Where the page is told that metrics have changed."""
    query = f'subscription {{ metricsChanged(workspaceId: "{workspace.id}") {{ firstDay }} }}'
    return f"{GRAPHQL_PATH}?{urlencode({'query': query})}"


def _cards(charts: Charts | None, arrangement: Arrangement) -> Mapping[str, Any]:
    if charts is None:
        return {"charts": None, "tabs": [], "large": None, "sections": [], "others": []}
    shown = charts.question.shown
    sections: list[tuple[str, list[Card]]] = [
        (group.name, [charts.card(shown(slug)) for slug in group.slugs]) for group in arrangement.shown
    ]
    return {
        "charts": charts,
        "tabs": [charts.tab(slug) for slug in HEADLINE],
        "large": charts.card(shown(charts.question.metric), tall=True),
        "sections": sections,
        "others": charts.others,
    }


def _tops(asked: Asked, charts: Charts | None) -> list[tuple[str, str, str]]:
    """The lists that are loaded after the page: name, title and address."""
    if charts is None or charts.is_empty:
        return []
    rank = next((slug for slug in RANKS if charts.total(slug) > 0), RANKS[0])
    base = f"/{asked.workspace.slug}/dashboard/top"
    query = asked.question.address()
    return [
        ("share", "Top shares", f"{base}/share?{query}&rank={rank}"),
        ("customer", "Top customers", f"{base}/customer?{query}&rank={rank}"),
        ("event", "Events by name", f"{base}/event?{query}"),
    ]


async def _steps(visit: Visit, asked: Asked, charts: Charts | None) -> list[Step]:
    """The first steps of a workspace in which nothing has happened, or which is new, until all are done."""
    question = asked.question
    if charts is None or question.share_id is not None or question.customer_id is not None:
        return []
    if not charts.is_empty and now() - asked.workspace.created_at > NEW_FOR:
        return []
    has_share = bool(asked.shares.content)
    steps = (await attempt(first_steps(visit, asked.workspace, has_share))).content or []
    return [] if all(step.is_done for step in steps) else steps
