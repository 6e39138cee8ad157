"""Routes made from operations: one line each, with the operation's arguments, docstring and scope."""

import inspect
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from fastapi import APIRouter, Body, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter

from resolvers.operations.admission import Demand, admit, charge_rest
from resolvers.operations.context import Context
from resolvers.operations.declaration import Operation, operation_of
from resolvers.operations.etags import matches_weakly
from resolvers.operations.runner import run
from rest_compat.openapi import operation_extras
from rest_compat.reading import located, path_names_of, read_arguments
from schema.base import Resource
from schema.errors import Invalid

JSON = "application/json"
EMPTY = frozenset({202, 204})  # Responses without a body.


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
    """A route that runs an operation; FastAPI matches and documents it.

    `omits` names parameters of the operation that this path does not accept. `writes` is the class of its
    responses; a subclass creates those that are not JSON.
    """

    writes: ClassVar[type[Response]] = JSONResponse

    operation: Operation
    omits: frozenset[str]
    answer: TypeAdapter[Any]

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        async def handle(request: Request) -> Response:
            return await self._handle(request)

        return handle

    async def _handle(self, request: Request) -> Response:
        ctx: Context = request.app.state.context(request)
        operation = self.operation
        await admit(ctx.caller, [Demand.of(operation)], restricted=operation.restricted)
        names = path_names_of(self.path) | self.omits
        arguments = await read_arguments(request, operation, names)
        if operation.is_conditional:
            ctx = replace(ctx, if_match=request.headers.get("if-match"))
        try:
            if operation.weigh is not None:
                await charge_rest(ctx.caller, operation.weigh(**arguments))
            result = await run(operation, ctx, arguments)
        except Invalid as invalid:
            raise located(operation, invalid, names) from None
        return self._answer(request, ctx, result)

    def _answer(self, request: Request, ctx: Context, result: Any) -> Response:
        status = ctx.outcome.status or self.status_code or 200
        headers = {"Idempotency-Replayed": "true"} if ctx.outcome.replayed else {}
        if status in EMPTY:
            return Response(status_code=status, headers=headers)
        if isinstance(result, Resource) and request.method == "GET":
            headers["ETag"] = result.etag_text()
            if matches_weakly(request.headers.get("if-none-match", ""), headers["ETag"]):
                return Response(status_code=304, headers=headers)
        return Response(self.body_of(result), status, headers, media_type=JSON)

    def body_of(self, result: Any) -> bytes:
        """The result as JSON."""
        return self.answer.dump_json(result)


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
        route_class: type[OperationRoute] = OperationRoute,
    ) -> None:
        """Publish `resolver`; a collection's path works with and without its trailing slash.

        `answer` is the response's type if it is narrower than the resolver's. `name` is for a second path to
        the same resolver, `omits` for parameters of its other path, `route_class` for responses that are not
        JSON.
        """
        operation = operation_of(resolver)
        name = name or operation.name
        model: Any = None if status in EMPTY else answer or operation.answer
        declared = {"operation": operation, "answer": TypeAdapter(model), "omits": frozenset(omits)}
        declared_class = type(route_class.__name__, (route_class,), declared)
        is_json = issubclass(route_class.writes, JSONResponse)
        other = path.removesuffix("/") if path.endswith("/") else f"{path}/"
        for variant in (path, other):
            self.add_api_route(
                variant,
                _document(operation, path_names_of(path), frozenset(omits)),
                methods=[method],
                status_code=status,
                response_model=model if is_json else None,
                response_class=Response if status in EMPTY else route_class.writes,
                responses=ERRORS if is_json else ERRORS_AS_JSON,
                summary=name.replace("_", " ").capitalize(),
                description=operation.description,
                operation_id=name,
                include_in_schema=variant == path,
                openapi_extra=operation_extras(operation, method),
                route_class_override=declared_class,
            )


def _document(operation: Operation, path_names: frozenset[str], omits: frozenset[str]) -> Callable[..., Any]:
    """A function with the operation's parameters, for FastAPI to document; it is never called."""

    async def documented(**_: Any) -> Any:
        raise AssertionError("OperationRoute runs the operation itself.")

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
