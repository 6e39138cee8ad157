"""Links between types: fields of GraphQL, which answers of REST have by `expand`."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast
from uuid import UUID

import strawberry
from strawberry.types.nodes import SelectedField, Selection

from oauth.scopes import Scope, that_would_do

Method = TypeVar("Method", bound=Callable[..., Any])

SCOPE = "scope"
MOST = "most"


class RowKey(NamedTuple):
    """A row behind a link."""

    workspace_id: UUID
    id: UUID


class PageKey(NamedTuple):
    """A page of the rows behind a link; `counted` says whether the answer shows their total."""

    workspace_id: UUID
    parent_id: UUID
    limit: int
    page: int
    counted: bool

    @property
    def parent(self) -> RowKey:
        return RowKey(self.workspace_id, self.parent_id)


def link(scope: Scope) -> Callable[[Method], Method]:
    """Make a method of a type a GraphQL field that needs `scope`.

    Without the scope the field is null, with an error at its path; its type must therefore be nullable.
    """

    def declare(method: Method) -> Method:
        scopes = " or ".join(f"`{candidate}`" for candidate in that_would_do(scope))
        description = f"{inspect.getdoc(method)}\n\nNeeds the scope {scopes}."

        @wraps(method)
        def field(self: Any, info: strawberry.Info, **arguments: Any) -> Any:
            info.context["check"](scope)
            return method(self, info, **arguments)

        linked: Any = strawberry.pydantic.field(field, description=description, metadata={SCOPE: scope})
        return cast("Method", linked)

    return declare


def at_most(items: int) -> Any:
    """The annotation of a list inside an object that has at most so many items, each with links: these cost
    as much as behind all of them.
    """
    return strawberry.field(metadata={MOST: items})


async def load(info: strawberry.Info, loader: str, key: Any) -> Any:
    """The named loader's value for `key`; keys requested at the same time are loaded in one batch."""
    return await info.context["load"](loader, key)


def selects(info: strawberry.Info, *names: str) -> bool:
    """Whether any of these fields is selected below the link, at any depth; names are in camelCase."""

    def has_name(selections: list[Selection]) -> bool:
        return any(
            (isinstance(item, SelectedField) and item.name in names) or has_name(item.selections)
            for item in selections
        )

    return any(has_name(field.selections) for field in info.selected_fields)
