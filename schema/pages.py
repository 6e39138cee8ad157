"""Lists, as callers ask for them and get them."""

from typing import Annotated, Any, Generic, TypeVar

from pydantic import Field

from schema.base import Filters, Output, graphql_type
from schema.errors import Invalid, problem
from schema.scalars import LARGEST_INT, Int
from schema.sorting import CreatedAtSorting

MOST_PER_PAGE = 100

Item = TypeVar("Item")


class ListQuery(Filters):
    """What every list takes; `sorting` is declared by each list with its own keys."""

    page: Annotated[
        int | None, Field(ge=1, le=LARGEST_INT, description="The page, from 1; the default is 1.")
    ] = None
    limit: Annotated[int, Field(ge=1, le=MOST_PER_PAGE, description="How many items a page holds.")] = 10
    after: Annotated[
        str | None,
        Field(max_length=4096, description="A `next_cursor`: read on from there, instead of by `page`."),
    ] = None

    def sort_keys(self) -> list[str]:
        """The keys asked for, in order, a minus prefix for descending; empty for the list's default."""
        chosen: list[Any] = getattr(self, "sorting", None) or []
        return [str(key) for key in chosen]


SortedByCreation = Annotated[
    list[CreatedAtSorting] | None, Field(max_length=2, description="The default is `created_at`.")
]


@graphql_type
class PageMeta(Output):
    """Where a page lies in its list. With `after` only `per_page` and `next_cursor` are known."""

    total: Annotated[Int | None, Field(description="Items on all pages.")]
    page: Annotated[Int | None, Field(description="This page, from 1.")]
    per_page: Annotated[Int, Field(description="The `limit` that was asked for.")]
    pages: Annotated[Int | None, Field(description="Pages at this limit.")]
    next_cursor: Annotated[str | None, Field(description="For `after`; null at the end of the list.")]


@graphql_type
class Pagination(Output):
    """The same counts under their other names."""

    total_count: Annotated[Int, Field(description="Items on all pages.")]
    max_page: Annotated[Int, Field(description="Pages at this limit.")]


@graphql_type
class Page(Output, Generic[Item]):
    """One page of a list."""

    data: list[Item]
    meta: PageMeta
    pagination: Pagination | None


# Fields of a page, as GraphQL names them, for which its list has to be counted.
COUNTED = ("total", "pages", "pagination")


def check_page(limit: int, page: int) -> None:
    """For a link with these arguments. Raises `Invalid` with both problems at once."""
    problems = []
    if not 1 <= limit <= MOST_PER_PAGE:
        message = f"Input should be from 1 to {MOST_PER_PAGE}"
        problems.append(problem(("limit",), message, "range", input=limit))
    if page < 1:
        problems.append(problem(("page",), "Input should be 1 or more", "range", input=page))
    if problems:
        raise Invalid(problems)
