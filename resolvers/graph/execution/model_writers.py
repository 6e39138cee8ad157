"""Writers of models: answers that are not lines, like metrics, as the selected fields of their objects."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from graphql import (
    GraphQLList,
    GraphQLOutputType,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
)

from resolvers.graph.execution.plain_fields import DEFINITION
from resolvers.graph.execution.selections import TYPE_NAME, Selected, SelectedField
from resolvers.operations.context import Caller
from schema.errors import LARGEST_ANSWER, AnswerTooLarge
from schema.kit.columns import ColumnList
from schema.values.scalars import WrittenNumbers, leaves_unchanged

# The quotes of a field's name with its colon, and a value.
LEAST_OF_A_VALUE = 4
ROWS_AT_A_TIME = 500


@dataclass(eq=False)
class ModelWriter:
    """Writes models for a caller, whose answer's bytes are counted before they are made."""

    caller: Caller

    def write(self, type_: Any, below: Selected | None, value: Any) -> Any:
        """The value of a field of this type as JSON has it.

        Raises `TypeError` for what the type refuses, and `AnswerTooLarge`.
        """
        if value is None:
            if is_non_null_type(type_):
                raise TypeError(f"A value of the type {type_} is missing.")
            return None
        bare: Any = get_nullable_type(type_)
        if is_list_type(bare):
            return self._list(bare, below, value)
        if below is None:
            self._count(_size_of([value]))
            return _leaf(bare, value)
        self._count_names(below, 1)
        return {
            name: below.type.name
            if each.name == TYPE_NAME
            else self.write(each.type, each.below, read_field(each, value))
            for name, each in below.fields.items()
        }

    def _list(self, type_: GraphQLList[Any], below: Selected | None, values: Any) -> list[Any]:
        item: GraphQLOutputType = type_.of_type
        if isinstance(values, ColumnList) and below is not None:
            return self._rows(below, values)
        self._count(_size_of(values))
        if isinstance(values, WrittenNumbers):
            return values
        bare = get_nullable_type(item)
        if is_leaf_type(bare) and leaves_unchanged(bare.name, set(map(type, values)), values):
            listed: list[Any] = values
            return listed
        return [self.write(item, below, value) for value in values]

    def _rows(self, below: Selected, rows: ColumnList[Any]) -> list[orjson.Fragment]:
        """The objects as JSON, many in each fragment: dictionaries would take twenty times the memory."""
        self._count_names(below, len(rows))
        columns = {
            name: [below.type.name] * len(rows)
            if each.source is None
            else self._list(GraphQLList(each.type), each.below, rows.column(each.source))
            for name, each in below.fields.items()
        }
        return [_objects(columns, start, len(rows)) for start in range(0, len(rows), ROWS_AT_A_TIME)]

    def _count_names(self, below: Selected, objects: int) -> None:
        self._count(objects * sum(len(name) + LEAST_OF_A_VALUE for name in below.fields))

    def _count(self, size: int) -> None:
        self.caller.bytes_written += size
        if self.caller.bytes_written > LARGEST_ANSWER:
            raise AnswerTooLarge


def _objects(columns: Mapping[str, Sequence[Any]], start: int, end: int) -> orjson.Fragment:
    """The objects of these columns from `start` on, at most `ROWS_AT_A_TIME`, as a list of JSON has them."""
    end = min(end, start + ROWS_AT_A_TIME)
    rows: Iterable[tuple[Any, ...]] = zip(*(values[start:end] for values in columns.values()), strict=True)
    if not columns:
        rows = [()] * (end - start)
    return orjson.Fragment(orjson.dumps([dict(zip(columns, row, strict=True)) for row in rows])[1:-1])


def read_field(field: SelectedField, value: Any) -> Any:
    """The value of an object's field, which is an attribute, or made by a method of its class."""
    if field.source == "etag":
        return value.etag_text()
    if field.source is not None:
        return getattr(value, field.source)
    if field.link is not None or field.declared is None:
        raise TypeError(f"The link {field.name} is not read with a model.")
    return field.declared.extensions[DEFINITION].base_resolver.wrapped_func(value)


def _size_of(values: Any) -> int:
    """At least how many bytes these values have in the answer."""
    if isinstance(values, WrittenNumbers):
        return 2 * len(values)
    kinds = set(map(type, values))
    if kinds == {str}:
        return sum(map(len, values))
    if any(issubclass(kind, dict) for kind in kinds):
        return sum(len(orjson.dumps(value)) for value in values if isinstance(value, dict))
    return 0


def _leaf(type_: Any, value: Any) -> Any:
    written = type_.coerce_output_value(value)
    if written is None:
        raise TypeError(f"{type_} does not write this value.")
    return written


def is_made_by_a_method(field: SelectedField) -> bool:
    """Whether a model's own method without arguments makes the field."""
    declared = None if field.declared is None else field.declared.extensions.get(DEFINITION)
    if declared is None or declared.base_resolver is None or field.metadata:
        return False
    resolver: Any = declared.base_resolver
    return not resolver.is_async and len(resolver.signature.parameters) == 1
