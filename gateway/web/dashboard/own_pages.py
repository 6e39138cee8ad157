"""Pages that the dashboard leads to: one list, one metric with its table, and the arrangement of the charts.

Its script takes over the first two from here.
"""

from itertools import zip_longest
from urllib.parse import urlencode

from starlette.responses import Response

from gateway.web.dashboard.arrangement import arrangement_of, change_arrangement
from gateway.web.dashboard.asked import Asked, choices_of, read_asked
from gateway.web.dashboard.metrics.cards import Charts
from gateway.web.dashboard.metrics.layout import DIVISORS
from gateway.web.dashboard.metrics.queries import curl_of, graphql_of
from gateway.web.dashboard.metrics.sheets import sheet_of
from gateway.web.dashboard.parts import attempt
from gateway.web.dashboard.tops import RANKS, events_by_name, top_groups
from gateway.web.kit.visits import NEVER_KEEP, Visit
from gateway.web.kit.workspaces import workspace_of
from resolvers.metrics.metrics import get_metrics
from resolvers.operations.security_events import note_export
from schema.errors import NotFound
from storage.metrics.definitions import BY_SLUG
from storage.objects.names import content_disposition, safe_name


async def show_top(visit: Visit) -> Response:
    """One list of the dashboard. Raises `NotFound`."""
    asked = await read_asked(visit)
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
    return visit.render("dashboard_top.html", **choices_of(asked), by=by, part=part)


async def show_metric(visit: Visit) -> Response:
    """One chart with its table and the call behind it. Raises `Failure`."""
    asked, slug = await _read_metric(visit)
    if asked.form.problems:
        return visit.redirect(f"/{asked.workspace.slug}/dashboard")
    charts = await _charts_of(visit, asked, slug)
    arguments = charts.arguments
    base_url = visit.ctx.services.base_url
    return visit.render(
        "dashboard_metric.html",
        **choices_of(asked),
        charts=charts,
        card=charts.card(slug, tall=True),
        rows=zip_longest(charts.rows(slug), charts.lists(slug)),
        calls=[("GraphQL", graphql_of(arguments, slug)), ("curl", curl_of(arguments, slug, base_url))],
    )


async def export_metric(visit: Visit) -> Response:
    """A chart as a CSV file. Raises `Failure`."""
    asked, slug = await _read_metric(visit)
    if asked.form.problems:
        return visit.redirect(f"/{asked.workspace.slug}/dashboard")
    charts = await _charts_of(visit, asked, slug)
    note_export(visit.ctx.caller)
    name = BY_SLUG[slug].display_name
    named = content_disposition(safe_name(f"{name}{charts.of_what}.csv"), attachment=True)
    headers = {"Content-Disposition": named, "Cache-Control": NEVER_KEEP}
    return Response(sheet_of(charts, slug, name), media_type="text/csv", headers=headers)


async def _read_metric(visit: Visit) -> tuple[Asked, str]:
    """What is asked about which metric. Raises `NotFound`."""
    asked = await read_asked(visit)
    slug = visit.request.path_params["metric"]
    if slug not in BY_SLUG:
        raise NotFound("There is no such metric.")
    return asked, slug


async def _charts_of(visit: Visit, asked: Asked, slug: str) -> Charts:
    arguments = asked.question.arguments(asked.workspace)
    metrics = dict.fromkeys([slug, DIVISORS.get(slug, slug)])
    answer = await visit.call(get_metrics, filters=arguments | {"metrics": list(metrics)})
    return Charts(asked.question, arguments, answer, asked.workspace)


async def show_arrangement(visit: Visit) -> Response:
    """Which groups and charts there are. `at` names the button that was pressed last."""
    workspace = await workspace_of(visit)
    arrangement = await arrangement_of(visit, workspace)
    return visit.render(
        "dashboard_arrange.html",
        workspace=workspace,
        arrangement=arrangement,
        metrics=BY_SLUG,
        at=visit.request.query_params.get("at", ""),
    )


async def arrange(visit: Visit) -> Response:
    """Take one press of a button: `what` is like `up:costs`, or `reset:`."""
    form = await visit.form()
    workspace = await workspace_of(visit)
    pressed = form.raw("what")
    what, _, name = pressed.partition(":")
    await change_arrangement(visit, workspace, what, name)
    return visit.redirect(f"{visit.request.url.path}?{urlencode({'at': pressed})}")
