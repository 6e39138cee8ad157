"""The page of what the clients of a workspace use of the API."""

from datetime import timedelta
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.kit.visits import HOME_PATH, Visit, page
from gateway.web.kit.workspaces import workspace_of
from gateway.web.settings.workspaces import is_owner_of
from resolvers.usage import list_usage
from storage.clock import now
from storage.enums import ClientKind, UsageKind

PATH = f"{HOME_PATH}/{{slug}}/usage"
ROWS_PER_PAGE = 50
RANGES = {"7": "7 days", "30": "30 days", "90": "90 days", "400": "400 days"}
USUAL_RANGE = "30"
KINDS = {
    "": "everything",
    UsageKind.OPERATION.value: "operations",
    UsageKind.FIELD.value: "fields",
    UsageKind.ARGUMENT.value: "arguments",
    UsageKind.INPUT_FIELD.value: "input fields",
}
CLIENTS = {
    ClientKind.OAUTH_CLIENT: "Application",
    ClientKind.WORKSPACE_TOKEN: "Access token",
    ClientKind.CUSTOMER_SESSIONS: "Customer portal",
    ClientKind.OTHERS: "Other clients",
}


def usage_routes() -> list[Route]:
    return [Route(PATH, page(show_usage))]


async def show_usage(visit: Visit) -> Response:
    workspace = await workspace_of(visit)
    sent = visit.request.query_params
    days = sent.get("days", USUAL_RANGE)
    days = days if days in RANGES else USUAL_RANGE
    kind = sent.get("kind", UsageKind.OPERATION.value)
    kind = kind if kind in KINDS else ""
    only_deprecated = sent.get("deprecated") == "true"
    first_day = (now() - timedelta(days=int(days) - 1)).date()
    query: dict[str, Any] = {
        "workspace_id": [str(workspace.id)],
        "start_date": first_day.isoformat(),
        "limit": ROWS_PER_PAGE,
        "page": visit.page_number,
    }
    if kind:
        query["kind"] = [kind]
    if only_deprecated:
        query["is_deprecated"] = True
    is_owner = await is_owner_of(visit, workspace)
    return visit.render(
        "workspace_usage.html",
        workspace=workspace,
        is_owner=is_owner,
        listing=await visit.call(list_usage, filters=query) if is_owner else None,
        ranges=RANGES,
        kinds=KINDS,
        clients=CLIENTS,
        days=days,
        kind=kind,
        only_deprecated=only_deprecated,
    )
