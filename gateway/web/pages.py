"""The pages a developer opens first: home, the REST reference and, from guide/, the guides."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from gateway.web.dashboard.start import start
from gateway.web.entrance.demo import DemoEntrance
from gateway.web.guide.contents import Addresses
from gateway.web.guide.routes import Guide
from gateway.web.kit.assets import static_route
from gateway.web.kit.html import content_security_policy, html_page
from gateway.web.kit.visits import NEVER_KEEP, Visit, page
from resolvers.graph.http.endpoint import GRAPHQL_PATH
from resolvers.operations.context import Context
from resolvers.operations.limits.admission import admit
from rest_compat.api import render_http_exception
from rest_compat.routing.paths import OPENAPI_PATH, PREFIX

# Scalar writes its theme as a <style> element and its layout as style attributes.
REFERENCE_POLICY = content_security_policy(style_src="'self' 'unsafe-inline'")


async def render_lost(request: Request, exception: HTTPException) -> Response:
    """An error of the router: a page for browsers, otherwise an error of REST.

    Costs a call. Raises `RateLimited`.
    """
    ctx: Context = request.app.state.context(request)
    await admit(ctx.caller, [])
    refusal = await render_http_exception(request, exception)
    accepted = request.headers.get("accept", "")
    if request.method != "GET" or "text/html" not in accepted or request.url.path.startswith(f"{PREFIX}/"):
        return refusal
    response = html_page("lost.html", status_code=refusal.status_code, path=request.url.path)
    if allowed := refusal.headers.get("Allow"):
        response.headers["Allow"] = allowed
    return response


def page_routes(base_url: str, auth_url: str, demo: DemoEntrance | None = None) -> list[BaseRoute]:
    """Home, the REST reference, the guides and the static files.

    `base_url` is REST's address, `auth_url` the pages'. With `demo`, home leads to its portal.
    """

    async def home(visit: Visit) -> Response:
        """What Duograph is, for visitors; who is signed in is led to the dashboard."""
        if visit.user is not None:
            return await start(visit)
        response = html_page(
            "home.html",
            visit=visit,
            base_url=base_url.rstrip("/"),
            graphql_url=auth_url.rstrip("/") + GRAPHQL_PATH,
            demo=demo,
        )
        response.headers["Cache-Control"] = NEVER_KEEP
        return response

    async def reference(visit: Visit) -> Response:
        response = html_page(
            "reference.html", policy=REFERENCE_POLICY, visit=visit, openapi_path=OPENAPI_PATH
        )
        response.headers["Cache-Control"] = NEVER_KEEP
        return response

    return [
        Route("/", page(home, anyone=True), name="home"),
        Route("/docs", page(reference, anyone=True), name="reference"),
        *Guide(Addresses(base_url, auth_url)).routes(),
        static_route(),
    ]
