"""The dashboard of a workspace: every metric as a chart, and what happened last."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from gateway.web.dashboard.cards import Card, Charts
from gateway.web.dashboard.layout import HEADLINE, places
from gateway.web.dashboard.parts import (
    Part,
    Step,
    attempt,
    first_steps,
    latest,
    shares_of,
)
from gateway.web.dashboard.queries import report_of
from gateway.web.dashboard.question import NOT_COMPARED, RANGES, Question, at_fields, read_question
from gateway.web.dashboard.tops import RANKS, events_by_name, top_groups
from gateway.web.kit.forms import Form
from gateway.web.kit.lookups import CUSTOMERS
from gateway.web.kit.visits import Visit
from gateway.web.kit.workspaces import workspace_of
from resolvers.graph.http.endpoint import GRAPHQL_PATH
from resolvers.metrics.metrics import get_metrics
from schema.errors import Invalid, NotFound
from schema.metrics.metrics import Metrics
from schema.shares.shares import Share
from schema.values.prose import write_amount
from schema.workspaces.workspaces import Workspace
from storage.clock import now
from storage.enums import Currency
from storage.metrics.periods import ComparedRange, Interval

# How long a workspace is new: its first steps are shown until all are done.
NEW_FOR = timedelta(days=14)
# Offered in the field; every IANA name is accepted.
ZONES = (
    "UTC",
    "Africa/Johannesburg",
    "Africa/Lagos",
    "America/Chicago",
    "America/Los_Angeles",
    "America/New_York",
    "America/Sao_Paulo",
    "Asia/Dubai",
    "Asia/Kolkata",
    "Asia/Shanghai",
    "Asia/Singapore",
    "Asia/Tokyo",
    "Australia/Sydney",
    "Europe/Berlin",
    "Europe/London",
    "Europe/Paris",
    "Europe/Stockholm",
    "Pacific/Auckland",
)
_INTERVALS = [("", "Automatic"), *((each.value, f"By {each.value}") for each in reversed(Interval))]
_COMPARISONS = [
    (ComparedRange.PREVIOUS.value, "Previous period"),
    (ComparedRange.PREVIOUS_YEAR.value, "Previous year"),
    (NOT_COMPARED, "Nothing"),
]


@dataclass(frozen=True)
class Asked:
    """The workspace and the question of an address, with the shares that the form offers."""

    workspace: Workspace
    question: Question
    form: Form
    shares: Part[Sequence[Share]]

    @property
    def may_compare(self) -> bool:
        return self.workspace.feature_settings.analytics_compare


async def show_dashboard(visit: Visit) -> Response:
    asked = await _asked(visit)
    charts: Charts | None = None
    refused: Part[Metrics] = Part(None)
    if not asked.form.problems:
        arguments = asked.question.arguments(asked.workspace)
        refused = await attempt(visit.call(get_metrics, filters=arguments))
        if isinstance(refused.failure, Invalid):
            problems = at_fields(refused.failure.problems)
            asked = replace(asked, form=replace(asked.form, problems=problems))
        elif refused.content is not None:
            charts = Charts(asked.question, arguments, refused.content, visit.ctx.services.base_url)
    lists = {} if asked.form.problems else await latest(visit, asked.workspace, asked.question)
    return visit.render(
        "dashboard.html",
        status_code=422 if asked.form.problems else 200,
        **_choices(asked),
        **_cards(charts),
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


async def show_top(visit: Visit) -> Response:
    """One list of the dashboard, which its script takes over from this page. Raises `NotFound`."""
    asked = await _asked(visit)
    by = visit.request.path_params["by"]
    if asked.form.problems:
        return visit.redirect(f"/{asked.workspace.slug}/dashboard")
    if by == "event":
        part = await attempt(events_by_name(visit, asked.workspace, asked.question))
    elif by in ("share", "customer"):
        rank = visit.request.query_params.get("rank", RANKS[0])
        rank = rank if rank in RANKS else RANKS[0]
        part = await attempt(top_groups(visit, asked.workspace, asked.question, by, rank))
    else:
        raise NotFound("There is no such list.")
    return visit.render("dashboard_top.html", **_choices(asked), by=by, part=part)


async def _asked(visit: Visit) -> Asked:
    workspace = await workspace_of(visit)
    question, form = read_question(visit.request.query_params, workspace)
    visit.request.state.zone = question.timezone
    if question.customer_id is not None:
        try:
            customer = await CUSTOMERS.one_of(visit, workspace, "customer_id", question.customer_id)
        except Invalid as invalid:
            form = replace(form, problems=[*form.problems, *at_fields(invalid.problems)])
        else:
            question = replace(question, customer_id=str(customer.id))
            form = replace(form, values={**form.values, "customer_id": [customer.email]})
    return Asked(workspace, question, form, await shares_of(visit, workspace))


def _choices(asked: Asked) -> Mapping[str, Any]:
    """What the form offers."""
    shares = [("", "All shares"), *((str(share.id), share.name) for share in asked.shares.content or ())]
    return {
        "workspace": asked.workspace,
        "question": asked.question,
        "form": asked.form,
        "ranges": RANGES,
        "intervals": _INTERVALS,
        "comparisons": _COMPARISONS if asked.may_compare else [],
        "currencies": [("", "Default"), *((each.value, each.value.upper()) for each in Currency)],
        "zones": ZONES,
        "shares": shares,
    }


def _cards(charts: Charts | None) -> Mapping[str, Any]:
    if charts is None:
        return {"charts": None, "headline": [], "sections": [], "others": []}
    sections: list[tuple[str, list[Card]]] = [
        (place.name, [charts.card(slug) for slug in place.slugs]) for place in places()
    ]
    headline = [charts.card(slug, tall=True) for slug in HEADLINE]
    return {"charts": charts, "headline": headline, "sections": sections, "others": charts.others}


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
