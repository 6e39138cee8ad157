"""Answers that are still lines of a statement: surfaces write them, and others see the models."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from io import BytesIO
from typing import Any, Generic, cast, overload
from uuid import UUID

import orjson
from sqlalchemy import Column
from sqlmodel import SQLModel

from resolvers.operations.shapes.shapes import Derived, Item, Shape
from resolvers.operations.shapes.writers import etag_of, rest_list_writer, rest_writer
from schema.kit.base import entity_tag
from schema.kit.pages import Listed
from schema.values.scalars import write_moment
from storage.dialects.json_rows import LongLines
from storage.rows.rows import values_of


class ShapedRow(Generic[Item]):
    """One object of `shape`, which has the attributes of its model. The model is made if one is asked for."""

    __slots__ = ("_body", "_model", "line", "services", "shape")

    def __init__(self, shape: Shape[Item], line: Sequence[Any], services: Any) -> None:
        self.shape = shape
        self.line = line
        self.services = services
        self._model: Item | None = None
        self._body: bytes | None = None

    def written(self) -> dict[str, Any]:
        """The object as REST writes it."""
        return cast("dict[str, Any]", rest_writer(self.shape)(self.line, self.services))

    @property
    def body(self) -> bytes:
        """The same as JSON."""
        if self._body is None:
            self._body = orjson.dumps(self.written())
        return self._body

    def etag_text(self) -> str:
        if self.shape.is_hashed_whole:
            return entity_tag(self.body)
        model: Any = self.shape.model
        return etag_of(model, self.written())

    @property
    def model(self) -> Item:
        if self._model is None:
            self._model = self.shape.model.model_validate(self.written())
        return self._model

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)


class ShapedRows(Sequence[Item]):
    """A list of objects of `shape`, with the cursor of each by its index. The models are made while it is
    iterated.
    """

    __slots__ = ("cursor_of", "lines", "services", "shape")

    def __init__(
        self,
        shape: Shape[Item],
        lines: Sequence[Sequence[Any]],
        services: Any,
        cursor_of: Callable[[int], str],
    ) -> None:
        self.shape = shape
        self.lines = lines
        self.services = services
        self.cursor_of = cursor_of

    def written(self) -> list[dict[str, Any]]:
        """The objects as REST writes them."""
        return cast("list[dict[str, Any]]", rest_list_writer(self.shape)(self.lines, self.services))

    def parts(self, write: Callable[[Any], Any]) -> list[Any]:
        """What `write` makes of each line; of long lines, which are parsed one at a time, all as one JSON."""
        if not isinstance(self.lines, LongLines):
            return [write(line) for line in self.lines]
        joined = BytesIO()
        for line in self.lines:
            joined.write(b"," if joined.tell() else b"")
            joined.write(orjson.dumps(write(line)))
        return [orjson.Fragment(joined.getvalue())]

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> list[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | list[Item]:
        return list(self)[place]

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Item]:
        validate = self.shape.model.model_validate
        return iter([validate(written) for written in self.written()])


def written_page(answer: Any) -> dict[str, Any] | None:
    """A page as REST writes it; None for an answer that is not a page of lines."""
    listed = getattr(answer, "data", None)
    if not isinstance(listed, ShapedRows):
        return None
    if not isinstance(listed.lines, LongLines):
        return {"data": listed.written(), **page_counts(answer)}
    write, services = rest_writer(listed.shape), listed.services
    return {"data": listed.parts(lambda line: write(line, services)), **page_counts(answer)}


def page_counts(page: Any) -> dict[str, Any]:
    """What REST writes of a page besides its items."""
    return {"meta": page.meta.__dict__, "pagination": page.pagination and page.pagination.__dict__}


def as_model(answer: Any) -> Any:
    """The answer of an operation with models in place of lines, for what cannot write lines."""
    if isinstance(answer, ShapedRow):
        return answer.model
    listed = getattr(answer, "data", None)
    if isinstance(listed, ShapedRows):
        models = Listed(listed)
        models.cursor_of = listed.cursor_of
        return answer.model_copy(update={"data": models})
    return answer


def shaped(services: Any, shape: Shape[Item], row: SQLModel, **parts: Sequence[Any]) -> Item:
    """The object of a record, for answers to changes; `parts` are lists of shaped objects by field."""
    values = values_of(row)
    line: list[Any] = []
    for name, source in shape.fields.items():
        if isinstance(source, Derived):
            line += [_in_json(values[column.name]) for column in source.columns]
        elif isinstance(source, Column):
            line.append(_in_json(values[source.name]))
        else:
            line.append([cast("ShapedRow[Any]", part).line for part in parts[name]])
    return cast(Item, ShapedRow(shape, line, services))


def _in_json(value: Any) -> Any:
    """A column's value as JSON has it."""
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return write_moment(value)
    return getattr(value, "value", value)
