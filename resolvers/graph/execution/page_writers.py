"""Writers of pages: the items of a list, with its cursors, counts and position."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from resolvers.graph.execution.selections import TYPE_NAME, Selected, SelectedField
from resolvers.operations.shapes.writers import Source, Writer, key
from schema.kit.pages import Page

# Of the page's lines, the page and the answer in the making: a field's value.
Part = Callable[[Sequence[Any], Any, Any], Any]
POSITIONS: Mapping[str, Callable[[Page[Any]], Any]] = {
    "has_next_page": lambda page: page.meta.next_cursor is not None,
    "has_previous_page": lambda page: page.meta.page is None or page.meta.page > 1,
    "start_cursor": lambda page: page.cursor_of(0) if page.data else None,
    "end_cursor": lambda page: page.cursor_of(len(page.data) - 1) if page.data else None,
}


class PageWriter:
    """Writes the selected fields of a page; `writer_of` makes the writer of what is selected of its items."""

    def __init__(self, selected: Selected, writer_of: Callable[[Selected], Writer]) -> None:
        self._parts = {name: _part(selected, each, writer_of) for name, each in selected.fields.items()}
        names = {each.name for each in selected.fields.values()}
        self.shows_items_only = names <= {"data", TYPE_NAME}

    def write(self, lines: Sequence[Any], page: Page[Any] | None, writing: Any) -> dict[str, Any]:
        """The object of a page with these lines. A page that shows only its items may be None."""
        return {name: part(lines, page, writing) for name, part in self._parts.items()}


def _part(owner: Selected, field: SelectedField, writer_of: Callable[[Selected], Writer]) -> Part:
    below = field.below
    if below is None:
        return lambda *_: owner.type.name
    if field.name == "data":
        write = writer_of(below)
        return lambda lines, _, writing: writing.parts(lines, lambda line: write(line, writing))
    if field.name == "edges":
        return _edges(below, writer_of)
    if field.name == "pageInfo":
        return lambda _, page, __: {
            name: below.type.name if each.name == TYPE_NAME else POSITIONS[each.attribute](page)
            for name, each in below.fields.items()
        }
    return lambda _, page, __: _counts(below, getattr(page, field.name))


def _edges(edge: Selected, writer_of: Callable[[Selected], Writer]) -> Part:
    source, fields = Source(), []
    for name, field in edge.fields.items():
        if field.below is not None:
            value = f"{source.name(writer_of(field.below))}(line, services)"
        else:
            value = repr(edge.type.name) if field.name == TYPE_NAME else "cursor_of(index)"
        fields.append(f"    {key(name)}: {value},")
    write = source.function("index, line, cursor_of, services", ["return {", *fields, "}"])

    def write_edges(lines: Sequence[Any], page: Any, writing: Any) -> Any:
        cursor_of = page.data.cursor_of
        return writing.parts(
            enumerate(lines), lambda numbered: write(numbered[0], numbered[1], cursor_of, writing)
        )

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
