"""GraphQL fields made from operations."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any

import strawberry
from strawberry.types.nodes import SelectedField, Selection
from strawberry.utils.str_converters import to_camel_case, to_snake_case

from resolvers.operations.context import Context, Outcome
from resolvers.operations.declaration import Operation, Parameter, default_of, operation_of
from resolvers.operations.runner import run
from resolvers.operations.shaped import as_model
from schema.errors import Invalid, NotPermitted

OPERATION = "operation"
ADMITTED = "admitted"
IF_MATCH = Parameter("if_match", str | None, None, "condition")


def expose(resolver: Callable[..., Any]) -> Any:
    """A field with the arguments, result, docstring and scope of `resolver`.

    Each filter becomes an argument. Root fields are nullable, so that a failure leaves their siblings intact.
    """
    operation = operation_of(resolver)
    arguments = [argument for parameter in operation.parameters for argument in _arguments_of(parameter)]
    if operation.is_conditional:
        arguments.append(
            _argument(
                IF_MATCH.name,
                str | None,
                None,
                "The change is made only if this is still the resource's `etag`.",
            )
        )

    async def field(*, info: strawberry.Info, **arguments: Any) -> Any:
        # The executor must run the operation that was admitted.
        if info.context.get(ADMITTED) is not info.operation:
            raise NotPermitted("This operation of the document was not admitted.")
        ctx = context_for(info, operation, arguments.pop(IF_MATCH.name, None))
        try:
            values = operation.validate(collect(operation, arguments))
            return as_model(await run(operation, ctx, values))
        except Invalid as invalid:
            raise located(operation, invalid) from None

    info = inspect.Parameter("info", inspect.Parameter.KEYWORD_ONLY, annotation=strawberry.Info)
    answer = operation.answer | None
    field.__name__ = operation.name
    field.__signature__ = inspect.Signature([*arguments, info], return_annotation=answer)  # type: ignore[attr-defined]
    field.__annotations__ = {item.name: item.annotation for item in (*arguments, info)} | {"return": answer}
    return strawberry.field(field, description=operation.description, metadata={OPERATION: operation})


def context_for(info: strawberry.Info, operation: Operation, if_match: str | None) -> Context:
    """The request's context with this field's own selection and precondition."""
    ctx: Context = info.context["ctx"]
    selections = [below for field in info.selected_fields for below in field.selections]
    selection = None if operation.changes else frozenset(_paths(selections, ""))
    outcome: Outcome = info.context["outcome"] if operation.changes else Outcome()
    return replace(ctx, selection=selection, if_match=if_match, outcome=outcome)


def collect(operation: Operation, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The resolver's arguments from those of the field, not validated yet."""
    sent = {name: value for name, value in arguments.items() if value is not strawberry.UNSET}
    values: dict[str, Any] = {}
    for parameter in operation.parameters:
        if parameter.place == "filters":
            names = parameter.annotation.model_fields
            filters = {name: sent.pop(name) for name in names if name in sent}
            values[parameter.name] = {name: value for name, value in filters.items() if value is not None}
        elif parameter.name in sent:
            values[parameter.name] = sent.pop(parameter.name)
    return values | sent


def located(operation: Operation, invalid: Invalid) -> Invalid:
    """The same problems, with each `loc` beginning with the field's argument."""
    spread = {parameter.name for parameter in operation.parameters if parameter.place == "filters"}
    problems = []
    for entry in invalid.problems:
        first, *rest = entry["loc"]
        if first in spread and rest:
            first, *rest = rest
        problems.append(entry | {"loc": [to_camel_case(first) if isinstance(first, str) else first, *rest]})
    return Invalid(problems, invalid.more)


def _arguments_of(parameter: Parameter) -> list[inspect.Parameter]:
    if parameter.place != "filters":
        default = strawberry.UNSET if parameter.default is None else parameter.default
        return [
            inspect.Parameter(
                parameter.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=default,
                annotation=parameter.annotation,
            )
        ]
    return [
        _argument(name, field.annotation, default_of(field), field.description)
        for name, field in parameter.annotation.model_fields.items()
    ]


def _argument(name: str, annotation: Any, default: Any, description: str | None) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=strawberry.UNSET if default is None else default,
        annotation=Annotated[annotation, strawberry.argument(description=description)],
    )


def _paths(selections: list[Selection], prefix: str) -> set[str]:
    """The dotted snake-case paths of the selected fields."""
    paths: set[str] = set()
    for selection in selections:
        if isinstance(selection, SelectedField):
            path = prefix + to_snake_case(selection.name)
            paths |= {path} | _paths(selection.selections, f"{path}.")
        else:
            paths |= _paths(selection.selections, prefix)
    return paths
