"""Writers of selections: functions, generated from a shape and a selection, that make an answer's object."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any

from graphql import GraphQLEnumType, get_named_type, get_nullable_type, is_list_type

from resolvers.graph.execution.choices import Choice, Pages
from resolvers.graph.execution.page_writers import PageWriter
from resolvers.graph.execution.selections import TYPE_NAME, Selected, SelectedField
from resolvers.operations.context import Context
from resolvers.operations.limits.answer_size import JoinedItems, counted
from resolvers.operations.rows.links import LinkedPage, LinkedRow
from resolvers.operations.shapes.shapes import Embedded, Part, Shape
from resolvers.operations.shapes.writers import (
    SERVICES,
    Source,
    Writer,
    etag_of,
    field_value,
    key,
    rest_writer,
)
from schema.errors import Invalid
from schema.values.scalars import UNCHANGED, write_number

# Scalars whose values in JSON are those that REST writes too.
_AS_WRITTEN = frozenset({"DateTime", "Metadata", "ID", *UNCHANGED}) - {"Long"}


@dataclass(slots=True, eq=False)
class Writing:
    """An answer in the making: the context of the request, and the page of each link.

    Its bytes are counted if it `is_counted`; the parts that were counted stay objects if it `has_refusals`,
    which are looked for in them.
    """

    ctx: Context
    pages: Pages
    is_counted: bool
    has_refusals: bool

    @property
    def services(self) -> Any:
        return self.ctx.services

    def part(self, write: Writer, line: Any) -> Any:
        """What `write` makes of a line. Raises `AnswerTooLarge`."""
        if not self.is_counted:
            return write(line, self)
        return self.parts([line], lambda line: write(line, self))[0]

    def parts(self, lines: Iterable[Any], write: Callable[[Any], Any]) -> list[Any]:
        """The items of a list that is counted, which `write` makes of lines. Raises `AnswerTooLarge`.

        They are one part of the answer: apart, each would take twice its memory.
        """
        caller, kept, joined = self.ctx.caller, [], BytesIO()
        for line in lines:
            before = caller.bytes_written
            value = write(line)
            # What has been counted inside is a part of it.
            caller.bytes_written = before
            written = counted(caller, value)
            if self.has_refusals:
                kept.append(value)
            else:
                joined.write(b"," if joined.tell() else b"")
                joined.write(written)
        return JoinedItems(joined.getvalue()) if joined.tell() else kept


class RefusedPage(dict[str, Any]):
    """In place of a page whose cursor is of another list, until the refusal is noted with its path."""

    def __init__(self, refusal: Exception) -> None:
        super().__init__()
        self.refusal = refusal


def selection_writer(shape: Shape[Any], selected: Selected, choice: Choice) -> Writer:
    """The object of a line with the selected fields: a function of the line and the `Writing`.

    The names in the answer are a client's: `key` lets them into the source.
    """
    source = Source(SERVICES)
    writer: Writer = source.function(
        "line, services", [f"return {selected_object(shape, selected, choice, source)}"]
    )
    return writer


def selected_object(shape: Shape[Any], selected: Selected, choice: Choice, source: Source) -> str:
    """The expression of a line's object with the selected fields, in the source of a writer."""
    fields = [
        f"{key(name)}: {_value(shape, selected, field, source, choice)}"
        for name, field in selected.fields.items()
    ]
    return f"{{{', '.join(fields)}}}"


def _value(shape: Shape[Any], owner: Selected, field: SelectedField, source: Source, choice: Choice) -> str:
    if field.name == TYPE_NAME:
        return repr(owner.type.name)
    if field.link is not None:
        return _linked(shape, field, source, choice)
    if field.source == "etag":
        write, tagged = source.name(partial(etag_of, shape.model)), source.name(rest_writer(shape.tagged))
        line = "line" if shape.chosen is None else f"line[{shape.place_of_tag}]"
        return f"{write}({tagged}({line}, services.services))"
    if field.source not in shape.fields:
        if field.source not in shape.omitted or shape.model.model_fields[field.source].default is not None:
            raise TypeError(f"{shape.model.__name__} is read without {field.name}.")
        return "None"
    below = field.below
    if isinstance(shape.fields[field.source], Part | Embedded) and below is not None:
        return field_value(shape, field.source, source, lambda inner: selection_writer(inner, below, choice))
    return _leaf(field, field_value(shape, field.source, source, rest_writer), source)


def _linked(shape: Shape[Any], field: SelectedField, source: Source, choice: Choice) -> str:
    """The object or the page behind a link; null if the link is refused."""
    linked, below = choice.linked.get(field), field.below
    if linked is None or below is None:
        return "None"
    cell = f"line[{shape.place_of_link(choice.numbers[field])}]"
    if isinstance(linked, LinkedRow):
        write = source.name(selection_writer(linked.shape, below, choice))
        return f"({write}(cell, services) if (cell := {cell}) is not None else None)"
    id = f"line[{shape.places['id']}]" if linked.is_continued else "None"
    return f"{source.name(_page_writer(field, below, linked, choice))}({cell}, {id}, services)"


def _page_writer(
    field: SelectedField, page: Selected, linked: LinkedPage, choice: Choice
) -> Callable[..., Any]:
    """A function of the cell of a page, the id of the object that links to it, and the `Writing`."""
    writer = PageWriter(page, lambda items, source: selected_object(linked.shape, items, choice, source))

    def write(cell: Any, id: str | None, writing: Writing) -> dict[str, Any]:
        paging: Any = writing.pages[field]
        if paging.after is not None:
            try:
                linked.link.check_cursor(writing.ctx, id or "", paging.after)
            except Invalid as refusal:
                return RefusedPage(refusal)
        if writer.shows_items_only:
            return writer.write(linked.lines_in(cell, paging.limit), None, writing)
        opened = linked.opened(writing.ctx, cell, id, paging)
        return writer.write(linked.lines_in(cell, paging.limit), opened, writing)

    return write


def _leaf(field: SelectedField, value: str, source: Source) -> str:
    """A scalar, an enum, an object that a column holds as JSON, or a list of these."""
    named, is_list = get_named_type(field.type), is_list_type(get_nullable_type(field.type))
    if field.below is not None:
        write: Any = _json_writer(field.below)
    elif isinstance(named, GraphQLEnumType) and not is_list:
        names = {getattr(item.value, "value", item.value): name for name, item in named.values.items()}
        # A value that is none of the enum's is an error.
        return f"{source.name({None: None, **names})}[{value}]"
    elif named.name == "Long":
        write = _write_long
    elif named.name in _AS_WRITTEN:
        return value
    else:
        raise TypeError(f"No line has values of the type {field.type}.")
    if is_list:
        listed = f"[{source.name(write)}(item) for item in items]"
        return f"({listed} if (items := {value}) is not None else None)"
    return f"{source.name(write)}({value})"


def _json_writer(selected: Selected) -> Callable[[Any], Any]:
    """The selected fields of an object that a column holds as JSON, after REST has completed it."""
    source = Source()
    fields = []
    for name, field in selected.fields.items():
        if field.name == TYPE_NAME:
            value = repr(selected.type.name)
        else:
            value = _leaf(field, f"value[{field.source!r}]", source)
        fields.append(f"    {key(name)}: {value},")
    lines = ["if value is None:", "    return None", "return {", *fields, "}"]
    writer: Callable[[Any], Any] = source.function("value", lines)
    return writer


def _write_long(value: Any) -> Any:
    return None if value is None else write_number(value)
