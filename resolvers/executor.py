"""How GraphQL documents are executed: plain fields and lists in short, all else as graphql-core does."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from graphql import (
    GraphQLField,
    GraphQLLeafType,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    GraphQLSchema,
    Undefined,
    get_nullable_type,
    is_leaf_type,
    is_non_null_type,
)
from graphql.execution.collect_fields import FieldDetailsList
from graphql.pyutils import Path
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from schema.columns import ColumnList
from schema.scalars import UNCHANGED

PLAIN = "plain"
DEFINITION = "strawberry-definition"


class Unusual(Exception):
    """Only the stock executor answers for this: with its errors, and each in its place."""


@dataclass(frozen=True)
class PlainField:
    """A field without arguments and resolver that holds scalars or enums: an attribute, to be written."""

    attribute: str
    type: GraphQLLeafType
    is_required: bool


def mark_plain_fields(schema: GraphQLSchema) -> None:
    """Let each object type of the schema know its plain fields by name."""
    for named in schema.type_map.values():
        if isinstance(named, GraphQLObjectType):
            found = {name: _plain(field) for name, field in named.fields.items()}
            named.extensions[PLAIN] = {name: field for name, field in found.items() if field is not None}


class Executor(StrawberryGraphQLCoreExecutionContext):
    """The stock executor with two short cuts, which give way to it wherever something is unusual.

    A plain field is read and written at once. A list of scalars, or of objects of which plain fields are
    selected, is completed column by column. Neither has side effects, so the stock executor can begin
    again and find every error.
    """

    def execute_field(
        self,
        parent_type: GraphQLObjectType,
        source: Any,
        field_details_list: FieldDetailsList,
        path: Path,
        position_context: Any,
    ) -> Any:
        plain = parent_type.extensions.get(PLAIN, {}).get(field_details_list[0].node.name.value)
        if plain is not None and self._has_no_middleware():
            with suppress(Exception):
                return _write(plain, getattr(source, plain.attribute))
        return super().execute_field(parent_type, source, field_details_list, path, position_context)

    def complete_iterable_value(  # noqa: PLR0917
        self,
        item_type: GraphQLOutputType,
        field_details_list: FieldDetailsList,
        info: GraphQLResolveInfo[Any],
        path: Path,
        items: Any,
        position_context: Any,
    ) -> Any:
        if isinstance(items, list | ColumnList) and position_context is None and self._has_no_middleware():
            with suppress(Exception):
                return self._complete_by_column(item_type, field_details_list, path, items)
        return super().complete_iterable_value(
            item_type, field_details_list, info, path, items, position_context
        )

    def _complete_by_column(
        self,
        item_type: GraphQLOutputType,
        field_details_list: FieldDetailsList,
        path: Path,
        items: list[Any] | ColumnList[Any],
    ) -> list[Any]:
        """The completed list. Raises `Unusual`, or what reading and writing the values raises."""
        bare = get_nullable_type(item_type)
        if is_leaf_type(bare) and isinstance(items, list):
            return _write_column(PlainField("", bare, is_non_null_type(item_type)), items)
        if not isinstance(bare, GraphQLObjectType) or bare.is_type_of is not None:
            raise Unusual
        selected, deferred, _ = self.collect_subfields(bare, field_details_list)
        if deferred or not selected or self.get_stream_usage(field_details_list, path) is not None:
            raise Unusual
        read = _reader(bare, items)
        columns: dict[str, list[Any]] = {}
        for response_name, details in selected.items():
            name = details[0].node.name.value
            if name == "__typename":
                columns[response_name] = [bare.name] * len(items)
            else:
                plain = bare.extensions[PLAIN][name]
                columns[response_name] = _write_column(plain, read(plain.attribute))
        names = tuple(columns)
        return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _has_no_middleware(self) -> bool:
        return self.middleware_manager is None or not self.middleware_manager.middlewares


def _plain(field: GraphQLField) -> PlainField | None:
    declared = field.extensions.get(DEFINITION)
    bare = get_nullable_type(field.type)
    if declared is None or field.args or not is_leaf_type(bare):
        return None
    if not declared.is_basic_field or declared.default_resolver is not getattr:
        return None
    return PlainField(declared.python_name, bare, is_non_null_type(field.type))


def _reader(type_: GraphQLObjectType, items: list[Any] | ColumnList[Any]) -> Callable[[str], list[Any]]:
    """What reads an attribute of all items. Raises `Unusual` unless all are of the type's class."""
    origin = type_.extensions[DEFINITION].origin
    if isinstance(items, ColumnList):
        if items.model is not origin:
            raise Unusual
        return items.column
    if set(map(type, items)) != {origin}:
        raise Unusual
    return lambda attribute: list(map(attrgetter(attribute), items))


def _write(plain: PlainField, value: Any) -> Any:
    """The value as the answer has it. Raises `Unusual`, or what writing it raises."""
    if value is None and not plain.is_required:
        return None
    # A serializer like `str` would take any of these for a value.
    if value is None or value is Undefined or isinstance(value, Exception) or hasattr(value, "__await__"):
        raise Unusual
    written = plain.type.coerce_output_value(value)
    if written is None or written is Undefined:
        raise Unusual
    return written


def _write_column(plain: PlainField, values: list[Any]) -> list[Any]:
    """The values as the answer has them. Raises as `_write` does."""
    is_unchanged = UNCHANGED.get(plain.type.name)
    if is_unchanged is not None and is_unchanged(values):
        return values
    return [_write(plain, value) for value in values]
