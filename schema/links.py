"""Links between types: fields that only GraphQL has, loaded in batches."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import strawberry
from strawberry.types.nodes import SelectedField, Selection

from oauth.scopes import Scope, that_would_do

Method = TypeVar("Method", bound=Callable[..., Any])

SCOPE = "scope"


def link(scope: Scope) -> Callable[[Method], Method]:
    """Make a method of a type a GraphQL field that needs `scope` and costs one call for each parent."""

    def declare(method: Method) -> Method:
        wanted = " or ".join(f"`{candidate}`" for candidate in that_would_do(scope))
        description = f"{inspect.getdoc(method)}\n\nNeeds the scope {wanted}."
        return strawberry.pydantic.field(method, description=description, metadata={SCOPE: scope})

    return declare


async def load(info: strawberry.Info, loader: str, key: Any) -> Any:
    """What the named loader has for `key`; keys asked for at the same moment go in one batch."""
    return await info.context["load"](loader, key)


def selects(info: strawberry.Info, *names: str) -> bool:
    """Whether one of these fields is selected below the link, at any depth; names are camelCase."""

    def found(selections: list[Selection]) -> bool:
        return any(
            (isinstance(item, SelectedField) and item.name in names) or found(item.selections)
            for item in selections
        )

    return any(found(field.selections) for field in info.selected_fields)
