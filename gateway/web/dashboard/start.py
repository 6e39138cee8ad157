"""The page after sign-in: the dashboard of the workspace used last."""

from starlette.responses import Response

from gateway.web.kit.cookies import LAST_WORKSPACE
from gateway.web.kit.visits import HOME_PATH, Visit
from gateway.web.kit.workspaces import workspaces_of


async def start(visit: Visit) -> Response:
    """Redirect to the dashboard of the last workspace, else of the first; without any, to the list."""
    slugs = [workspace.slug for workspace in await workspaces_of(visit)]
    last = visit.cookies.read(visit.request, LAST_WORKSPACE)
    if not slugs:
        return visit.redirect(HOME_PATH)
    return visit.redirect(f"/{last if last in slugs else slugs[0]}/dashboard")
