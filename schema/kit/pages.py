"""Lists: the arguments that select a page, and the page."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import strawberry
from pydantic import Field

from schema.errors import Invalid, problem
from schema.kit.base import Filters, Output, graphql_type
from schema.kit.sorting import CreatedAtSorting, ResourceSorting
from schema.values.integers import LARGEST_INT
from schema.values.scalars import Int, MomentInput

MOST_PER_PAGE = 100

# Arguments that select a page of the rows, or say how dates are read; the others select rows.
_NOT_FILTERS = frozenset({"page", "limit", "after", "sorting", "timezone"})
_OF_CHANGES = ("modified_since", "modified_before")

Item = TypeVar("Item")


class ListQuery(Filters):
    """The arguments of every list. Each list declares `sorting` with its own keys."""

    paged: ClassVar[bool] = True

    page: Annotated[
        int | None, Field(ge=1, le=LARGEST_INT, description="The page number, from 1; the default is 1.")
    ] = None
    limit: Annotated[int, Field(ge=1, le=MOST_PER_PAGE, description="The number of items per page.")] = 10
    after: Annotated[
        str | None,
        Field(
            max_length=4096,
            description="The `next_cursor` of the previous page, to read the next one. Not together with "
            "`page`.",
        ),
    ] = None

    @cached_property
    def parameters(self) -> str:
        """The sorting and the filters as JSON."""
        return self.model_dump_json(exclude={"page", "limit", "after"})

    def sent(self) -> dict[str, Any]:
        """The filters with a value, in the order of their declaration."""
        return {name: value for name in self.filter_names() if (value := getattr(self, name)) is not None}

    @classmethod
    @cache
    def filter_names(cls) -> dict[str, None]:
        """The arguments that are filters, in the order of their declaration, as the keys of a dictionary."""
        return {name: None for name in cls.model_fields if name not in _NOT_FILTERS}

    @classmethod
    def selecting(cls) -> Collection[str]:
        return cls.filter_names()

    def sort_keys(self) -> list[str]:
        """The requested sort keys in order, `-` for descending; empty for the list's default order."""
        keys: list[Any] = getattr(self, "sorting", None) or []
        return [str(key) for key in keys]

    def is_of_changes(self) -> bool:
        """Whether the query asks what changed since or until a moment, or in the order of the changes."""
        sorted_by = {key.removeprefix("-") for key in self.sort_keys()}
        return "modified_at" in sorted_by or any(getattr(self, name, None) for name in _OF_CHANGES)


class ChangesQuery(ListQuery):
    """The arguments of a list that also tells what changed in a span of time."""

    modified_since: Annotated[
        MomentInput | None, Field(description="Only resources created or last changed at this time or later.")
    ] = None
    modified_before: Annotated[
        MomentInput | None, Field(description="Only resources created or last changed before this time.")
    ] = None


SortedByChange = Annotated[
    list[ResourceSorting] | None,
    Field(max_length=4, description="The sort keys in order; the default is `created_at`."),
]
SortedByCreation = Annotated[
    list[CreatedAtSorting] | None,
    Field(max_length=2, description="The sort keys in order; the default is `created_at`."),
]


@graphql_type
class PageMeta(Output):
    """The position of a page in its list. With `after`, only `per_page` and `next_cursor` are set."""

    total: Annotated[Int | None, Field(description="The number of items on all pages.")]
    page: Annotated[Int | None, Field(description="The number of this page, from 1.")]
    per_page: Annotated[Int, Field(description="The requested `limit`.")]
    pages: Annotated[Int | None, Field(description="The number of pages at this limit.")]
    next_cursor: Annotated[
        str | None, Field(description="The value of `after` for the next page; null on the last page.")
    ]


@graphql_type
class Pagination(Output):
    """The counts of `meta` under other names."""

    total_count: Annotated[Int, Field(description="The number of items on all pages.")]
    max_page: Annotated[Int, Field(description="The number of pages at this limit.")]


@graphql_type
class PageInfo(Output):
    """The position of a page in its list, as Relay's clients read it."""

    has_next_page: Annotated[bool, Field(description="Whether a page follows.")]
    has_previous_page: Annotated[bool, Field(description="Whether this is not the first page.")]
    start_cursor: Annotated[
        str | None, Field(description="The cursor of the first item; null on an empty page.")
    ]
    end_cursor: Annotated[
        str | None, Field(description="The cursor of the last item, for `after`; null on an empty page.")
    ]


@graphql_type
class Edge(Output, Generic[Item]):
    """An item of a page with its own cursor."""

    node: Item
    cursor: Annotated[str, Field(description="The value of `after` for a page that begins after this item.")]


class Listed(list[Item]):
    """The items of a page; `cursor_of` makes the cursor of the one at an index."""

    cursor_of: Callable[[int], str]


@graphql_type
class Page(Output, Generic[Item]):
    """One page of a list, also in the form of a Relay connection."""

    data: list[Item]
    meta: PageMeta
    pagination: Pagination | None

    @strawberry.pydantic.field(description="The items with their cursors, as Relay's clients read them.")
    def edges(self) -> list[Edge[Item]]:
        return [Edge.made(node=item, cursor=self.cursor_of(index)) for index, item in enumerate(self.data)]

    @strawberry.pydantic.field(description="The position of the page, as Relay's clients read it.")
    def page_info(self) -> PageInfo:
        last = len(self.data) - 1
        return PageInfo.made(
            has_next_page=self.meta.next_cursor is not None,
            has_previous_page=self.meta.page is None or self.meta.page > 1,
            start_cursor=self.cursor_of(0) if last >= 0 else None,
            end_cursor=self.cursor_of(last) if last >= 0 else None,
        )

    def cursor_of(self, index: int) -> str:
        """The cursor of the item at the index."""
        listed: Any = self.data
        cursor: str = listed.cursor_of(index)
        return cursor


BOTH_PLACES = "Send either `page` or `after`, not both"
OTHER_LIST = "The cursor does not belong to this list with this sorting and these filters"


@dataclass(frozen=True)
class Paging:
    """The page of a link that a request asks for. `place` holds the sort keys in the cursor `after`."""

    limit: int
    page: int
    after: str | None = None
    place: Sequence[Any] | None = None


def paging_of(limit: int, page: int, first: int | None = None, after: str | None = None) -> Paging:
    """The page that the arguments of a link ask for. Raises `Invalid` with all problems at once."""
    problems = []
    for name, value in (("limit", limit), ("first", first)):
        if value is not None and not 1 <= value <= MOST_PER_PAGE:
            message = f"`{name}` should be between 1 and {MOST_PER_PAGE}"
            problems.append(problem((name,), message, "range", input=value))
    if page < 1:
        problems.append(problem(("page",), "`page` should be 1 or more", "range", input=page))
    if after is not None and page > 1:
        problems.append(problem(("after",), BOTH_PLACES, "conflict"))
    if problems:
        raise Invalid(problems)
    return Paging(limit if first is None else first, page, after)
