"""The pages a developer opens first: home, the GraphQL explorer and the REST reference."""

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from gateway.health import HEALTH_PATH
from gateway.rate_limits.charging import charged
from gateway.web.kit.assets import static_route
from gateway.web.kit.html import content_security_policy, html_page
from resolvers.graph.endpoint import GRAPHQL_PATH
from resolvers.operations.admission import admit
from resolvers.operations.context import Context
from rest_compat.api import render_http_exception
from rest_compat.paths import OPENAPI_PATH, PREFIX

EXAMPLE_FOLDER = Path(__file__).parent / "examples"
EXAMPLE_NAMES = ("shares", "create_share", "viewer")

# An open dialog of GraphiQL adds a <style> element that depends on the screen, so no hash can name it.
# The fonts are in GraphiQL's style sheet.
EXPLORER_POLICY = content_security_policy(style_src="'self' 'unsafe-inline'", font_src="data:")

# RapiDoc writes its theme as a <style> element and style attributes into its shadow tree.
REFERENCE_POLICY = content_security_policy(style_src="'self' 'unsafe-inline'")


@dataclass(frozen=True)
class Example:
    """An operation in a tab of the explorer; `variables` is JSON text or empty."""

    query: str
    variables: str


@cache
def explorer_examples() -> tuple[Example, ...]:
    """The example operations in the order of their tabs."""
    return tuple(_read_example(name) for name in EXAMPLE_NAMES)


def _read_example(name: str) -> Example:
    variables = EXAMPLE_FOLDER / f"{name}.json"
    return Example(
        query=(EXAMPLE_FOLDER / f"{name}.graphql").read_text("utf-8"),
        variables=variables.read_text("utf-8") if variables.exists() else "",
    )


def explorer_response() -> HTMLResponse:
    """The GraphQL explorer, which posts to the path it is served at."""
    examples = json.dumps([asdict(example) for example in explorer_examples()])
    return html_page("explorer.html", policy=EXPLORER_POLICY, examples=examples)


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


def page_routes(base_url: str, auth_url: str) -> list[BaseRoute]:
    """Home, the REST reference and the static files; `base_url` is REST's address, `auth_url` the pages'."""

    async def home(request: Request) -> HTMLResponse:
        return html_page(
            "home.html",
            base_url=base_url.rstrip("/"),
            graphql_url=auth_url.rstrip("/") + GRAPHQL_PATH,
            health_path=HEALTH_PATH,
        )

    async def reference(request: Request) -> HTMLResponse:
        return html_page("reference.html", policy=REFERENCE_POLICY, openapi_path=OPENAPI_PATH)

    return [
        Route("/", charged(home), name="home"),
        Route("/docs", charged(reference), name="reference"),
        static_route(),
    ]
