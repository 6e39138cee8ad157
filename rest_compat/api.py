"""The REST surface: every resource's router under one prefix, and one format for all failures."""

import json
from collections.abc import Iterator

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.exceptions import HTTPException

from resolvers.operations.answers import Answer
from rest_compat import (
    authorized_applications,
    browser_sessions,
    custom_fields,
    customer_portal,
    customer_sessions,
    customers,
    events,
    file_share_payments,
    file_share_sessions,
    files,
    members,
    metrics,
    oauth_clients,
    passkeys,
    personal_access_tokens,
    second_factors,
    secret_scanning,
    shares,
    viewer,
    workspace_access_tokens,
    workspace_invitations,
    workspace_members,
    workspaces,
)
from rest_compat.endpoint import OperationEndpoint
from rest_compat.openapi import describe_api
from rest_compat.paths import PREFIX
from rest_compat.router import OperationRoute
from schema.errors import Failure, MethodNotAllowed, NotFound

ROUTERS: tuple[APIRouter, ...] = (
    authorized_applications.router,
    browser_sessions.router,
    custom_fields.router,
    customer_portal.router,
    customer_sessions.router,
    customers.router,
    events.router,
    file_share_payments.router,
    file_share_sessions.router,
    files.router,
    members.router,
    metrics.router,
    oauth_clients.router,
    passkeys.router,
    personal_access_tokens.router,
    second_factors.router,
    secret_scanning.router,
    shares.router,
    viewer.router,
    workspace_access_tokens.router,
    workspace_invitations.router,
    workspace_members.router,
    workspaces.router,
)


def include_api(app: FastAPI) -> None:
    """Add the REST surface to `app`, which has `state.context`."""
    for router in ROUTERS:
        app.include_router(router, prefix=PREFIX)
    describe_api(app)
    app.exception_handler(Failure)(render_failure)
    app.exception_handler(HTTPException)(render_http_exception)


def operation_endpoints() -> Iterator[tuple[str, str, OperationEndpoint]]:
    """The method, the template of the path and the endpoint of every operation."""
    for route in _operation_routes():
        for method in route.methods or ():
            yield method, PREFIX + route.path, route.served


def documented_routes() -> list[OperationRoute]:
    """Every documented route; paths are without the prefix."""
    return [route for route in _operation_routes() if route.include_in_schema]


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


async def render_failure(_: Request, failure: Failure) -> Response:
    """A failure as the response of a route that FastAPI serves."""
    answer = failed(failure)
    return Response(answer.body, answer.status, answer.headers, answer.media_type)


async def render_http_exception(request: Request, exception: HTTPException) -> Response:
    """The response to an unknown path, or to a method that a path does not accept."""
    failure: Failure = NotFound(f"There is nothing at {request.url.path}.")
    if exception.status_code == 405:
        # Starlette names the methods of the first route that fits; several routes share a path here.
        allowed = ", ".join(_methods_of(request.url.path)) or (exception.headers or {}).get("Allow", "")
        message = f"{request.url.path} does not accept {request.method}; it accepts {allowed}."
        failure = MethodNotAllowed(message, {"Allow": allowed})
    return await render_failure(request, failure)


def _methods_of(path: str) -> list[str]:
    own = path.removeprefix(PREFIX)
    fitting = (route for route in _operation_routes() if route.path_regex.match(own))
    return sorted({method for route in fitting for method in route.methods or ()})


def _operation_routes() -> list[OperationRoute]:
    routes = [route for router in ROUTERS for route in router.routes]
    return [route for route in routes if isinstance(route, OperationRoute)]
