"""What a planned field reads: the fields and links of its objects, with the pages of the links."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from graphql import GraphQLError, get_argument_values
from graphql.execution.values import VariableValues

from resolvers.graph.execution.selections import Selected, SelectedField
from resolvers.operations.rows.links import Link, LinkedPage, LinkedRow, ToMany, ToOne, names_of_place
from resolvers.operations.rows.page_forms import rounded
from resolvers.operations.shapes.chosen import Chosen
from schema.errors import Invalid
from schema.kit.pages import Paging, paging_of

# Fields of a page that need the number of its rows, and what needs cursors or says whether a page follows.
_COUNTED = frozenset({"meta.total", "meta.pages", "pagination"})
_CONTINUED = frozenset({"meta.next_cursor", "page_info", "edges.cursor"})


# The page of each link, or why the link is refused.
Pages = Mapping[SelectedField, Paging | Exception]


def page_of_link(field: SelectedField, values: VariableValues | None) -> Paging | Exception:
    """The page of a link by the request's variables, or the refusal of its arguments."""
    link = field.link
    if not isinstance(link, ToMany) or field.declared is None:
        return Paging(1, 1)
    try:
        return link.paging_of(paging_of(**get_argument_values(field.declared, field.nodes[0], values)))
    except (GraphQLError, Invalid) as refusal:
        return refusal


@dataclass(eq=False)
class Choice:
    """What is read for a field, and the number of each link's cell among those of its object.

    A link without a number is refused. `names` are those of the parameters of pages that are not the first,
    or how those of a page after a cursor begin. `writers` are those that were made, by shape.
    """

    chosen: Chosen
    numbers: dict[SelectedField, int]
    linked: dict[SelectedField, LinkedRow | LinkedPage]
    names: dict[SelectedField, str]
    writers: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def may_be_late(self) -> bool:
        """Whether a replica may answer all of it."""
        return all(each.link.replica for each in self.linked.values())

    def places(self, pages: Pages) -> dict[str, Any]:
        """The values of the parameters of pages."""
        values: dict[str, Any] = {}
        for link, name in self.names.items():
            paging: Any = pages[link]
            if paging.place is None:
                values[name] = (paging.page - 1) * paging.limit
            else:
                values |= zip(names_of_place(name, len(paging.place)), paging.place, strict=True)
        return values


def choose(items: Iterable[Selected], pages: Pages) -> Choice:
    """What is read for objects from which `items` are selected, with the links that have a page."""
    made = _Made(pages)
    return Choice(made.chosen(list(items)), made.numbers, made.linked, made.names)


@dataclass(eq=False)
class _Made:
    pages: Pages
    numbers: dict[SelectedField, int] = field(default_factory=dict)
    linked: dict[SelectedField, LinkedRow | LinkedPage] = field(default_factory=dict)
    names: dict[SelectedField, str] = field(default_factory=dict)

    def chosen(self, items: list[Selected]) -> Chosen:
        fields: set[str] = set()
        inner: dict[str, list[Selected]] = {}
        links: list[LinkedRow | LinkedPage] = []
        for each in (each for selected in items for each in selected.fields.values()):
            paging = self.pages.get(each)
            if each.link is None and each.source is not None:
                fields.add(each.source)
                if each.below is not None:
                    inner.setdefault(each.source, []).append(each.below)
            elif each.link is not None and each.below is not None and isinstance(paging, Paging):
                self.numbers[each] = len(links)
                self.linked[each] = linked = self._linked(each, each.link, each.below, paging)
                links.append(linked)
                if isinstance(linked, LinkedPage) and linked.is_continued:
                    fields.add("id")  # Cursors are of the list of this object.
        below = sorted((name, self.chosen(parts)) for name, parts in inner.items())
        return Chosen(frozenset(fields - {"etag"}), tuple(below), tuple(links), "etag" in fields)

    def _linked(
        self, field: SelectedField, link: Link, below: Selected, paging: Paging
    ) -> LinkedRow | LinkedPage:
        if isinstance(link, ToOne):
            return LinkedRow(link, self.chosen([below]))
        shown, is_after = frozenset(below.paths()), paging.after is not None
        skipped = after = None
        if is_after:
            after = self.names[field] = f"continued_{len(self.names)}"
        elif paging.page > 1:
            skipped = self.names[field] = f"skipped_{len(self.names)}"
        return LinkedPage(
            link,
            self.chosen(list(items_of(below))),
            rounded(paging.limit),
            is_counted=not is_after and not shown.isdisjoint(_COUNTED),
            # Whether a cursor is of a list shows by the id of the object that the list is of.
            is_continued=is_after or not shown.isdisjoint(_CONTINUED),
            skipped=skipped,
            after=after,
        )


def items_of(page: Selected) -> Iterator[Selected]:
    """What is selected from the items of a page, as its data and as the nodes of its edges."""
    for each in page.fields.values():
        if each.below is not None and each.name == "data":
            yield each.below
        elif each.below is not None and each.name == "edges":
            yield from (node.below for node in each.below.fields.values() if node.below is not None)


def is_page(selected: Selected) -> bool:
    """Whether these are the fields of a page of a list."""
    return all(name in selected.type.fields for name in ("data", "edges", "pageInfo"))
