"""Links between types: fields of GraphQL, which answers of REST have by `expand`."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, TypeVar, cast
from uuid import UUID

import strawberry

from oauth.scopes import Scope, that_would_do

Method = TypeVar("Method", bound=Callable[..., Any])

SCOPE = "scope"
MOST = "most"
READ_BY_A_PLAN = "A plan reads this with the row of its object."

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


def link(scope: Scope) -> Callable[[Method], Method]:
    """Make a method without a body a GraphQL field that needs `scope`.

    `resolvers/links.py` says which rows it leads to. Without the scope the field is null, with an error at
    its path; its type must therefore be nullable.
    """

    def declare(method: Method) -> Method:
        scopes = " or ".join(f"`{candidate}`" for candidate in that_would_do(scope))
        description = f"{inspect.getdoc(method)}\n\nNeeds the scope {scopes}."
        linked: Any = strawberry.pydantic.field(method, description=description, metadata={SCOPE: scope})
        return cast("Method", linked)

    return declare


def list_link(scope: Scope) -> Callable[[Method], Method]:
    """Make a method without a body a link to a list, a page at a time.

    The list belongs to the object, which has an `id` and a `workspace_id`.
    """

    def declare(method: Method) -> Method:
        def page_of(
            self: Any,
            *,
            limit: Limit = 10,
            page: PageNumber = 1,
            first: First = strawberry.UNSET,
            after: After = strawberry.UNSET,
        ) -> Any: ...

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
