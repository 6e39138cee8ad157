"""The REST surface: every route under one prefix, and one format for all failures."""

import json

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from resolvers.operations.answers import Answer
from rest_compat.protocols.secret_scanning import REPORT_PATH, ReportEndpoint
from rest_compat.routes import account, portal, workspace
from rest_compat.routing.front_routes import FrontRoute
from rest_compat.routing.router import OperationRoute
from schema.errors import Failure, MethodNotAllowed, NotFound

_ROUTERS = (workspace.router, account.router, portal.router)

# What each part of the documentation is about.
TAGS = {tag: description for router in _ROUTERS for tag, description in router.tags.items()}

# Every path of the REST surface.
ROUTES: tuple[FrontRoute, ...] = (
    *(route for router in _ROUTERS for route in router.routes),
    FrontRoute(REPORT_PATH, ReportEndpoint(), ("POST",)),
)


def documented_routes() -> list[OperationRoute]:
    """Every documented route of an operation."""
    return [route for router in _ROUTERS for route in router.routes if route.is_documented]


def operation_routes() -> dict[str, OperationRoute]:
    """The first documented route by operation name; some operations have a second one under another name."""
    return {
        route.operation.name: route
        for route in documented_routes()
        if route.operation_id == route.operation.name
    }


def failed(failure: Failure) -> Answer:
    """A failure as an answer of REST."""
    body = json.dumps(failure.body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Answer(int(failure.status), body.encode(), failure.headers)


def _name_places_of_new() -> None:
    """Tell each route that creates a resource where it is read: at a path that ends with the id alone."""
    read = {route.operation: route.path for route in documented_routes() if route.path.endswith("/{id}")}
    for router in _ROUTERS:
        for route in router.routes:
            path = read.get(route.operation.gives) if route.operation.gives is not None else None
            if route.method == "POST" and path is not None:
                route.served.place_of_new = path.removesuffix("{id}")


_name_places_of_new()


async def render_failure(_: Request, failure: Failure) -> Response:
    """A failure as the response of a route behind the front."""
    answer = failed(failure)
    return Response(answer.body, answer.status, answer.headers, answer.media_type)


async def render_http_exception(request: Request, exception: HTTPException) -> Response:
    """The response to an unknown path, or to a method that a path does not accept."""
    failure: Failure = NotFound(f"There is nothing at {request.url.path}.")
    # To the router behind, a path of its own that another method has may look like one with an id.
    if exception.status_code == 405 or _own_routes(request.url.path):
        # Starlette names the methods of the first route that fits; several routes share a path here.
        allowed = ", ".join(_methods_of(request.url.path)) or (exception.headers or {}).get("Allow", "")
        message = f"{request.url.path} does not accept {request.method}; it accepts {allowed}."
        failure = MethodNotAllowed(message, {"Allow": allowed})
    return await render_failure(request, failure)


def _methods_of(path: str) -> list[str]:
    fitting = _own_routes(path) or [route for route in ROUTES if route.path_regex.match(path)]
    methods = {method for route in fitting for method in route.methods or ()}
    # The front answers HEAD wherever there is GET.
    return sorted(methods | ({"HEAD"} if "GET" in methods else set()))


def _own_routes(path: str) -> list[FrontRoute]:
    """The routes of a path without parameters."""
    return [route for route in ROUTES if route.path == path]
