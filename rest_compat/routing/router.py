"""Routes made from operations: one line each, with the operation's arguments, docstring and scope."""

from collections.abc import Callable
from typing import Any, Literal

from resolvers.operations.declaration import Operation, operation_of
from rest_compat.routing.endpoint import EMPTY, OperationEndpoint
from rest_compat.routing.front_routes import FrontRoute
from rest_compat.routing.paths import PREFIX
from rest_compat.routing.reading import path_names_of
from schema.kit.base import Filters


class OperationRoute(FrontRoute):
    """One path of an operation, under the resource's `tag` in the documentation.

    `operation_id` is the operation's name, or another for a second path, which omits the parameters of
    `omits`. A path that differs from a documented one by a trailing slash only is not documented.
    """

    served: OperationEndpoint

    def __init__(
        self,
        method: str,
        path: str,
        served: OperationEndpoint,
        *,
        tag: str,
        operation_id: str,
        omits: frozenset[str],
        is_documented: bool,
    ) -> None:
        super().__init__(path, served)
        self.method = method
        self.methods = {method}  # Without HEAD, which Starlette adds to GET.
        self.tag = tag
        self.operation_id = operation_id
        self.omits = omits
        self.is_documented = is_documented

    @property
    def operation(self) -> Operation:
        return self.served.operation


class Router:
    """The routes of one part of the API. Those after a call of `about` are about that resource."""

    def __init__(self) -> None:
        self.routes: list[OperationRoute] = []
        self.tags: dict[str, str] = {}
        self._tag = ""

    def about(self, tag: str, description: str) -> None:
        """What the routes that follow have in common, in the documentation."""
        self._tag = tag
        self.tags[tag] = description

    def get(self, path: str, resolver: Callable[..., Any], **options: Any) -> None:
        self._add("GET", path, resolver, 200, **options)

    def post(self, path: str, resolver: Callable[..., Any], status: int = 201, **options: Any) -> None:
        self._add("POST", path, resolver, status, **options)

    def patch(self, path: str, resolver: Callable[..., Any], **options: Any) -> None:
        self._add("PATCH", path, resolver, 200, **options)

    def delete(self, path: str, resolver: Callable[..., Any], **options: Any) -> None:
        self._add("DELETE", path, resolver, 204, **options)

    def _add(
        self,
        method: Literal["GET", "POST", "PATCH", "DELETE"],
        path: str,
        resolver: Callable[..., Any],
        status: int,
        *,
        answer: Any = None,
        name: str | None = None,
        omits: tuple[str, ...] = (),
        endpoint_class: type[OperationEndpoint] = OperationEndpoint,
        filters: type[Filters] | None = None,
    ) -> None:
        """Publish `resolver`; a collection's path works with and without its trailing slash.

        `answer` is the response's type if it is narrower than the resolver's. `name` is for a second path to
        the same resolver, `omits` for parameters of its other path, `endpoint_class` for other writers and
        `filters` for what they can be asked for.
        """
        operation = operation_of(resolver)
        if filters is not None:
            operation = operation.taking(filters)
        model: Any = None if status in EMPTY else answer or operation.answer
        path_names, place = path_names_of(path) | frozenset(omits), f"{method} {PREFIX}{path}"
        endpoint = endpoint_class(operation, model, status, path_names, place)
        other = path.removesuffix("/") if path.endswith("/") else f"{path}/"
        for variant in (path, other):
            self.routes.append(
                OperationRoute(
                    method,
                    PREFIX + variant,
                    endpoint,
                    tag=self._tag,
                    operation_id=name or operation.name,
                    omits=frozenset(omits),
                    is_documented=variant == path,
                )
            )
