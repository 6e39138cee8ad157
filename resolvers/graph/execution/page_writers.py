"""Writers of pages: the items of a list, with its cursors, counts and position."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

from resolvers.graph.execution.selections import TYPE_NAME, Selected, SelectedField
from resolvers.operations.shapes.writers import SERVICES, Source, key
from schema.kit.pages import Page

# Of the page's lines, the page and the answer in the making: a field's value.
Part = Callable[[Sequence[Any], Any, Any], Any]
# Of what is selected of an item: the expression of its object, in the source of a writer.
ObjectOf = Callable[[Selected, Source], str]
POSITIONS: Mapping[str, Callable[[Page[Any]], Any]] = {
    "has_next_page": lambda page: page.meta.next_cursor is not None,
    "has_previous_page": lambda page: page.meta.page is None or page.meta.page > 1,
    "start_cursor": lambda page: page.cursor_of(0) if page.data else None,
    "end_cursor": lambda page: page.cursor_of(len(page.data) - 1) if page.data else None,
}


class PageWriter:
    """Writes the selected fields of a page; `object_of` makes the expression of an item's object."""

    def __init__(self, selected: Selected, object_of: ObjectOf) -> None:
        self._parts = {name: _part(selected, each, object_of) for name, each in selected.fields.items()}
        names = {each.name for each in selected.fields.values()}
        self.shows_items_only = names <= {"data", TYPE_NAME}

    def write(self, lines: Sequence[Any], page: Page[Any] | None, writing: Any) -> dict[str, Any]:
        """The object of a page with these lines. A page that shows only its items may be None."""
        return {name: part(lines, page, writing) for name, part in self._parts.items()}


def _part(owner: Selected, field: SelectedField, object_of: ObjectOf) -> Part:
    below = field.below
    if below is None:
        return lambda *_: owner.type.name
    if field.name == "data":
        return _items(below, object_of)
    if field.name == "edges":
        return _edges(below, object_of)
    if field.name == "pageInfo":
        return lambda _, page, __: {
            name: below.type.name if each.name == TYPE_NAME else POSITIONS[each.attribute](page)
            for name, each in below.fields.items()
        }
    return lambda _, page, __: _counts(below, getattr(page, field.name))


def _items(item: Selected, object_of: ObjectOf) -> Part:
    source = Source(SERVICES)
    write = source.list_function("lines, services", "line in lines", object_of(item, source))

    def write_items(lines: Sequence[Any], _: Any, writing: Any) -> Any:
        if not writing.is_counted:
            return write(lines, writing)
        return writing.parts(lines, lambda line: write([line], writing)[0])

    return write_items


def _edges(edge: Selected, object_of: ObjectOf) -> Part:
    source, fields, shows_cursors = Source(SERVICES), [], False
    for name, field in edge.fields.items():
        if field.below is not None:
            value = object_of(field.below, source)
        elif field.name == TYPE_NAME:
            value = repr(edge.type.name)
        else:
            value, shows_cursors = "cursor", True
        fields.append(f"{key(name)}: {value}")
    write = source.list_function("edges, services", "line, cursor in edges", f"{{{', '.join(fields)}}}")

    def write_edges(lines: Sequence[Any], page: Any, writing: Any) -> Any:
        cursors: Iterable[Any] = page.data.cursor_of.every() if shows_cursors else repeat(None)
        edges = zip(lines, cursors)  # noqa: B905 - without cursors there is no end of them
        if not writing.is_counted:
            return write(edges, writing)
        return writing.parts(edges, lambda edge: write([edge], writing)[0])

    return write_edges


def _counts(selected: Selected, counts: Any) -> dict[str, Any] | None:
    """The selected fields of a page's `meta` or `pagination`."""
    if counts is None:
        return None
    values, type_name = counts.__dict__, selected.type.name
    return {
        name: type_name if each.name == TYPE_NAME else values[each.attribute]
        for name, each in selected.fields.items()
    }
