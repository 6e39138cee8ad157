"""Links between types: fields of GraphQL, which answers of REST have by `expand`."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, NamedTuple, TypeVar, cast
from uuid import UUID

import strawberry
from strawberry.types.nodes import SelectedField, Selection

from oauth.scopes import Scope, that_would_do
from schema.kit.pages import COUNTED, paging_of

Method = TypeVar("Method", bound=Callable[..., Any])

SCOPE = "scope"
MOST = "most"

Limit = Annotated[int, strawberry.argument(description="The number of items on the page.")]
PageNumber = Annotated[int, strawberry.argument(description="The page number, from 1.")]
First = Annotated[int | None, strawberry.argument(description="The same as `limit`, which it replaces.")]
After = Annotated[
    str | None,
    strawberry.argument(
        description="A cursor of this list, or of the root field with this filter, after which the page "
        "begins. Not together with `page`."
    ),
]


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
    after: str | None
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


def list_link(scope: Scope, loader: str) -> Callable[[Method], Method]:
    """Make a method without a body a link to a list, a page at a time, which the named loader loads.

    The list belongs to the object, which has an `id` and a `workspace_id`.
    """

    def declare(method: Method) -> Method:
        async def page_of(
            self: Any,
            info: strawberry.Info,
            *,
            limit: Limit = 10,
            page: PageNumber = 1,
            first: First = strawberry.UNSET,
            after: After = strawberry.UNSET,
        ) -> Any:
            sent: dict[str, Any] = {"limit": limit, "page": page, "first": first, "after": after}
            asked = paging_of(
                **{name: value for name, value in sent.items() if value is not strawberry.UNSET}
            )
            place = (asked.limit, asked.page, asked.after, selects(info, *COUNTED))
            return await load(info, loader, PageKey(self.workspace_id, self.id, *place))

        page_of.__name__, page_of.__doc__ = method.__name__, inspect.getdoc(method)
        page_of.__module__ = method.__module__
        page_of.__annotations__["return"] = method.__annotations__["return"]
        return link(scope)(cast("Method", page_of))

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
