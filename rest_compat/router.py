"""Routes made from operations: one line each, with the operation's arguments, docstring and scope."""

import inspect
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Body, Path, Query, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from resolvers.operations.answers import JSON
from resolvers.operations.declaration import Operation, operation_of
from rest_compat.endpoint import EMPTY, OperationEndpoint
from rest_compat.openapi import operation_extras
from rest_compat.reading import path_names_of


class Error(BaseModel):
    """The body of every error response.

    `detail` is a list of at most 100 problems if the status is 422; `more` counts the omitted ones.
    """

    error: str
    detail: str | list[dict[str, Any]]
    more: int | None = None


ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Error, "description": "A failure that the caller can correct."}
}
# FastAPI documents a model under the route's media type, but failures are always JSON.
ERRORS_AS_JSON: dict[int | str, dict[str, Any]] = {
    status: {
        "description": entry["description"],
        "content": {JSON: {"schema": {"$ref": f"#/components/schemas/{entry['model'].__name__}"}}},
    }
    for status, entry in ERRORS.items()
}


class OperationRoute(APIRoute):
    """An operation's route: FastAPI documents it and names its methods; `served` answers its requests.

    The gateway finds `served` itself, and FastAPI gets only a path that no template fits, such as one that
    ends with a line break.
    """

    served: OperationEndpoint

    @property
    def operation(self) -> Operation:
        return self.served.operation

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        async def handle(_: Request) -> Response:
            raise HTTPException(404)

        return handle


class Router(APIRouter):
    """One resource's routes under one prefix."""

    def __init__(self, prefix: str, tag: str) -> None:
        super().__init__(prefix=prefix, tags=[tag], redirect_slashes=False)

    def get(self, path: str, resolver: Callable[..., Any], **options: Any) -> None:  # type: ignore[override]
        self._add("GET", path, resolver, 200, **options)

    def post(self, path: str, resolver: Callable[..., Any], status: int = 201, **options: Any) -> None:  # type: ignore[override]
        self._add("POST", path, resolver, status, **options)

    def patch(self, path: str, resolver: Callable[..., Any], **options: Any) -> None:  # type: ignore[override]
        self._add("PATCH", path, resolver, 200, **options)

    def delete(self, path: str, resolver: Callable[..., Any], **options: Any) -> None:  # type: ignore[override]
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
    ) -> None:
        """Publish `resolver`; a collection's path works with and without its trailing slash.

        `answer` is the response's type if it is narrower than the resolver's. `name` is for a second path to
        the same resolver, `omits` for parameters of its other path, `endpoint_class` for other writers.
        """
        operation = operation_of(resolver)
        name = name or operation.name
        model: Any = None if status in EMPTY else answer or operation.answer
        endpoint = endpoint_class(operation, model, status, path_names_of(path) | frozenset(omits))
        is_json = endpoint.media_type == JSON
        other = path.removesuffix("/") if path.endswith("/") else f"{path}/"
        for variant in (path, other):
            self.add_api_route(
                variant,
                _document(operation, path_names_of(path), frozenset(omits)),
                methods=[method],
                status_code=status,
                response_model=model if is_json else None,
                response_class=Response if status in EMPTY else endpoint.response_class,
                responses=ERRORS if is_json else ERRORS_AS_JSON,
                summary=name.replace("_", " ").capitalize(),
                description=operation.description,
                operation_id=name,
                include_in_schema=variant == path,
                openapi_extra=operation_extras(operation, method),
                route_class_override=OperationRoute,
            )
            cast("OperationRoute", self.routes[-1]).served = endpoint


def _document(operation: Operation, path_names: frozenset[str], omits: frozenset[str]) -> Callable[..., Any]:
    """A function with the operation's parameters, for FastAPI to document; it is never called."""

    async def documented(**_: Any) -> Any:
        raise AssertionError("OperationEndpoint runs the operation itself.")

    parameters = []
    for parameter in operation.parameters:
        annotation: Any = Annotated[parameter.annotation, Query()]
        default = parameter.default
        if parameter.name in omits:
            continue
        if parameter.place == "data":
            annotation = Annotated[parameter.annotation, Body()]
        elif parameter.name in path_names:
            annotation, default = Annotated[parameter.annotation, Path()], inspect.Parameter.empty
        parameters.append(
            inspect.Parameter(
                parameter.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
            )
        )
    documented.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return documented
