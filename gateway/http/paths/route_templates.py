"""The names of requests in the log: the path of the route, because the request's own may contain a secret."""

from collections.abc import Iterable
from typing import Any

from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Scope

UNMATCHED = "unmatched"


class RouteTemplates:
    """The paths of routes, such as `/api/shares/{id}`, looked up by a request's ASGI scope."""

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        plain = (route for route in routes if isinstance(route, Route | Mount))
        self._paths: dict[Any, str] = dict(map(_endpoint_and_path, plain))

    def of(self, scope: Scope) -> str:
        """The path of the request's route, after routing; `unmatched` without a route."""
        return self._paths.get(scope.get("endpoint"), UNMATCHED)


def _endpoint_and_path(route: Route | Mount) -> tuple[Any, str]:
    """The route's endpoint, as it is in the scope, and its path."""
    return (route.endpoint if isinstance(route, Route) else route.app), route.path
