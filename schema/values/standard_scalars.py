"""GraphQL's own `ID` and `Float`, which every generator of clients knows, with the coercions of REST."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import strawberry
from graphql import GraphQLScalarType


class _Standard(GraphQLScalarType):
    """A scalar by the name of one of graphql-core's, which reserves those names."""

    def __new__(cls, *_: Any, **__: Any) -> Self:
        return object.__new__(cls)


def _as_sent(value: Any) -> Any:
    return value


def id_scalar() -> Any:
    """UUIDs. Values are passed on as sent, and an operation refuses wrong ones in the words of REST.

    graphql-core's own would turn 7 into a text, which REST refuses as no text.
    """
    return _definition("ID", "A UUID, like `9f1c2d3e-...`.", str)


def float_scalar(serialize: Callable[[Any], Any]) -> Any:
    """JSON numbers. graphql-core's own would make a double of each integer of a long series."""
    return _definition("Float", "A JSON number: an integer or a double.", serialize)


def _definition(name: str, description: str, serialize: Callable[[Any], Any]) -> Any:
    """The definition for Strawberry."""
    texts: dict[str, Any] = {"name": name, "description": description}
    coercions: dict[str, Any] = {"serialize": serialize, "parse_value": _as_sent}
    definition = strawberry.scalar(**texts, **coercions)
    return replace(definition, implementation=_Standard(**texts, **coercions))
