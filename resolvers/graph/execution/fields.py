"""GraphQL fields made from operations."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

import strawberry

from resolvers.graph.execution.spelling import graphql_name, spelled
from resolvers.operations.declaration import Operation, operation_of
from schema.errors import AnswerTooLarge, Invalid, Problem
from schema.kit.deprecation import reason_of
from schema.kit.links import READ_BY_A_PLAN
from schema.kit.parameters import Parameter, default_of
from schema.kit.problems import named

OPERATION = "operation"
# Relay's clients page by this argument.
FIRST = "first"
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

    async def field(**arguments: Any) -> Any:
        raise TypeError(READ_BY_A_PLAN)

    answer = operation.answer | None
    field.__name__ = operation.name
    field.__signature__ = inspect.Signature(arguments, return_annotation=answer)  # type: ignore[attr-defined]
    field.__annotations__ = {item.name: item.annotation for item in arguments} | {"return": answer}
    return strawberry.field(
        field,
        description=operation.description,
        metadata={OPERATION: operation},
        deprecation_reason=operation.deprecation.reason if operation.deprecation else None,
    )


def validated(operation: Operation, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The resolver's arguments from those of the field. Raises `Invalid`."""
    if arguments.get(FIRST) is None:
        return operation.validate(collect(operation, arguments))
    # It takes the place of `limit`, which has to be valid all the same.
    operation.validate(collect(operation, {**arguments, FIRST: None}))
    try:
        return operation.validate(collect(operation, arguments))
    except Invalid as invalid:
        named = [_of_first(entry) for entry in invalid.problems]
        raise Invalid(named, invalid.more) from None


def _of_first(entry: Problem) -> Problem:
    """The problem of `limit` as that of `first`, whose value it was."""
    return entry | {"loc": [FIRST if part == "limit" else part for part in entry["loc"]]}


def collect(operation: Operation, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The resolver's arguments from those of the field, not validated yet."""
    sent = {name: value for name, value in arguments.items() if value is not strawberry.UNSET}
    if (first := sent.pop(FIRST, None)) is not None:
        sent["limit"] = first
    values: dict[str, Any] = {}
    for parameter in operation.parameters:
        if parameter.place == "filters":
            names = parameter.annotation.model_fields
            filters = {name: sent.pop(name) for name in names if name in sent}
            values[parameter.name] = parameter.annotation.of_arguments(filters)
        elif parameter.name in sent:
            values[parameter.name] = sent.pop(parameter.name)
    return values | sent


def located(operation: Operation, invalid: Invalid) -> Invalid:
    """The same problems in GraphQL's spelling, which name their place; a `loc` begins with an argument."""
    if isinstance(invalid, AnswerTooLarge):
        return invalid
    annotations = annotations_of(operation)
    spread = {parameter.name for parameter in operation.parameters if parameter.place == "filters"}
    problems = []
    for entry in invalid.problems:
        first, *rest = entry["loc"]
        if first in spread and rest:
            first, *rest = rest
        own = spelled(entry | {"loc": [first, *rest]}, annotations)
        problems.append(named(own, graphql_name(own["loc"])))
    return Invalid(problems, invalid.more)


def annotations_of(operation: Operation) -> dict[str, Any]:
    """The annotations of the field's arguments by their names in snake case."""
    annotations: dict[str, Any] = {IF_MATCH.name: IF_MATCH.annotation} if operation.is_conditional else {}
    for parameter in operation.parameters:
        if parameter.place == "filters":
            fields = parameter.annotation.model_fields
            annotations |= {name: field.annotation for name, field in fields.items()}
        else:
            annotations[parameter.name] = parameter.annotation
    return annotations


def selected_paths(paths: Iterable[str]) -> frozenset[str]:
    """The paths as resolvers know them: the node of a page's edge is an item of its `data`."""
    return frozenset(
        path.replace("edges.node", "data", 1) if path.startswith("edges.") else path for path in paths
    )


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
    arguments = [
        _argument(name, field.annotation, default_of(field), field.description, reason_of(field))
        for name, field in parameter.annotation.model_fields.items()
    ]
    if parameter.annotation.paged:
        arguments.append(_argument(FIRST, int | None, None, "The same as `limit`, which it replaces."))
    return arguments


def _argument(
    name: str, annotation: Any, default: Any, description: str | None, deprecation: str | None = None
) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=strawberry.UNSET if default is None else default,
        annotation=Annotated[
            annotation, strawberry.argument(description=description, deprecation_reason=deprecation)
        ],
    )
