"""Execution of GraphQL documents: a short cut for plain fields and lists, graphql-core for all else."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from operator import attrgetter
from types import NoneType
from typing import Any

import orjson
from graphql import (
    GraphQLError,
    GraphQLField,
    GraphQLLeafType,
    GraphQLList,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    GraphQLSchema,
    GraphQLType,
    OperationType,
    Undefined,
    get_named_type,
    get_nullable_type,
    is_abstract_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
)
from graphql.execution.collect_fields import FieldDetailsList
from graphql.pyutils import Path
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from resolvers.operations.context import Caller
from schema.errors import LARGEST_ANSWER
from schema.kit.columns import ColumnList
from schema.values.scalars import WrittenNumbers, leaves_unchanged

PLAIN = "plain"
DEFINITION = "strawberry-definition"
# The quotes of a field's name with its colon, and a value.
LEAST_OF_A_VALUE = 4


class NeedsStockExecutor(Exception):
    """The short cut does not cover a value; the stock executor writes it, or reports its errors in place."""


@dataclass(frozen=True)
class PlainField:
    """A field without arguments or a resolver: an attribute, written according to its type."""

    attribute: str
    type: GraphQLOutputType
    leaf: GraphQLLeafType | None


@dataclass(frozen=True)
class Selected:
    """A selected plain field, or None for `__typename`, with its name in the answer."""

    name: str
    field: PlainField | None
    details: FieldDetailsList


@dataclass
class _Uncounted:
    """In place of the caller of a document that is no request."""

    bytes_written: int = 0


def mark_plain_fields(schema: GraphQLSchema) -> None:
    """Note in each object type of the schema its plain fields by name."""
    for named in schema.type_map.values():
        if isinstance(named, GraphQLObjectType):
            fields = {name: _plain(field) for name, field in named.fields.items()}
            named.extensions[PLAIN] = {name: field for name, field in fields.items() if field is not None}


class Executor(StrawberryGraphQLCoreExecutionContext):
    """The stock executor with a short cut for selections that consist of plain fields only.

    The short cut writes such values at once, lists of objects column by column. A value that it does not
    cover goes to the stock executor, which starts again and reports every error: reading attributes has no
    side effects.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        directives = {directive.name for directive in self.schema.directives}
        has_middleware = self.middleware_manager is not None and bool(self.middleware_manager.middlewares)
        self._is_short = not has_middleware and directives.isdisjoint({"defer", "stream"})
        self._plans: dict[tuple[str, int], list[Selected] | None] = {}
        ctx = (self.context_value or {}).get("ctx")
        self._caller: Caller | _Uncounted = _Uncounted() if ctx is None else ctx.caller
        self._is_query = self.operation.operation is OperationType.QUERY

    def execute_field(
        self,
        parent_type: GraphQLObjectType,
        source: Any,
        field_details_list: FieldDetailsList,
        path: Path,
        position_context: Any,
    ) -> Any:
        if self._is_query and self._is_too_large:
            # What is left need not be worked out.
            return None
        field = parent_type.extensions.get(PLAIN, {}).get(field_details_list[0].node.name.value)
        if field is not None and self._is_short:
            with suppress(NeedsStockExecutor):
                value = getattr(source, field.attribute, Undefined)
                if field.leaf is not None and value is not None:
                    self._count(len(str(path.key)) + _size_of([value]))
                    return _write_leaf(field.leaf, value)
                (written,) = self._write(field.type, field_details_list, [value])
                return written
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
        if self._is_short:
            with suppress(NeedsStockExecutor):
                (written,) = self._write(GraphQLList(item_type), field_details_list, [items])
                return written
        return super().complete_iterable_value(
            item_type, field_details_list, info, path, items, position_context
        )

    @property
    def _is_too_large(self) -> bool:
        return self._caller.bytes_written > LARGEST_ANSWER

    def _count(self, size: int) -> None:
        """Count bytes of the answer before they are made."""
        self._caller.bytes_written += size

    def _write(self, type_: GraphQLOutputType, details: FieldDetailsList, values: list[Any]) -> list[Any]:
        """The values as they appear in the answer. Raises `NeedsStockExecutor`."""
        kinds = set(map(type, values))
        if NoneType not in kinds:
            return self._write_present(get_nullable_type(type_), details, values, kinds)
        if is_non_null_type(type_):
            raise NeedsStockExecutor
        present = [value for value in values if value is not None]
        written = iter(self._write_present(type_, details, present, kinds - {NoneType}))
        return [None if value is None else next(written) for value in values]

    def _write_present(
        self, type_: GraphQLType, details: FieldDetailsList, values: list[Any], kinds: set[type]
    ) -> list[Any]:
        if not values or (kinds == {WrittenNumbers} and is_list_type(type_)):
            self._count(_size_of(values))
            return values
        if is_leaf_type(type_):
            self._count(_size_of(values))
            if leaves_unchanged(type_.name, kinds, values):
                return values
            return [_write_leaf(type_, value) for value in values]
        if is_list_type(type_) and kinds == {list}:
            written = iter(self._write(type_.of_type, details, list(chain.from_iterable(values))))
            return [list(islice(written, len(value))) for value in values]
        if is_list_type(type_) and kinds == {ColumnList}:
            return [self._write_rows(get_nullable_type(type_.of_type), details, value) for value in values]
        if isinstance(type_, GraphQLObjectType) and kinds == {_class_of(type_)}:

            def read(attribute: str) -> list[Any]:
                try:
                    return list(map(attrgetter(attribute), values))
                except AttributeError:
                    raise NeedsStockExecutor from None

            return self._write_objects(type_, details, len(values), read)
        raise NeedsStockExecutor

    def _write_rows(self, type_: GraphQLType, details: FieldDetailsList, rows: ColumnList[Any]) -> list[Any]:
        if not isinstance(type_, GraphQLObjectType) or rows.model is not _class_of(type_):
            raise NeedsStockExecutor

        def read(attribute: str) -> list[Any]:
            try:
                return rows.column(attribute)
            except AttributeError:
                raise NeedsStockExecutor from None

        return self._write_objects(type_, details, len(rows), read)

    def _write_objects(
        self,
        type_: GraphQLObjectType,
        details: FieldDetailsList,
        count: int,
        read: Callable[[str], list[Any]],
    ) -> list[Any]:
        plan = self._plan(type_, details)
        if plan is None:
            raise NeedsStockExecutor
        self._count(count * sum(len(selected.name) + LEAST_OF_A_VALUE for selected in plan))
        if self._is_too_large:
            return []
        columns = {
            selected.name: self._write(selected.field.type, selected.details, read(selected.field.attribute))
            if selected.field is not None
            else [type_.name] * count
            for selected in plan
        }
        names = tuple(columns)
        return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _plan(self, type_: GraphQLObjectType, details: FieldDetailsList) -> list[Selected] | None:
        """The fields selected from the type, in order; None unless all of them are plain."""
        # The executor keeps the details as long as it lives, so their ids stay unique.
        key = (type_.name, id(details))
        if key not in self._plans:
            self._plans[key] = self._make_plan(type_, details)
        return self._plans[key]

    def _make_plan(self, type_: GraphQLObjectType, details: FieldDetailsList) -> list[Selected] | None:
        try:
            selected = self.collect_subfields(type_, details).grouped_field_set
        except GraphQLError:
            # A directive has no value: the stock executor reports it at its field.
            return None
        plan = []
        for name, below in selected.items():
            field_name = below[0].node.name.value
            field = type_.extensions.get(PLAIN, {}).get(field_name)
            if field is None and field_name != "__typename":
                return None
            named = get_named_type(field.type) if field is not None else None
            if isinstance(named, GraphQLObjectType) and self._plan(named, below) is None:
                return None
            plan.append(Selected(name, field, below))
        return plan or None


def _plain(field: GraphQLField) -> PlainField | None:
    declared, named = field.extensions.get(DEFINITION), get_named_type(field.type)
    if declared is None or field.args or not declared.is_basic_field:
        return None
    if declared.default_resolver is not getattr or is_abstract_type(named):
        return None
    bare = get_nullable_type(field.type)
    return PlainField(declared.python_name, field.type, bare if is_leaf_type(bare) else None)


def _class_of(type_: GraphQLObjectType) -> type | None:
    """The class of the type's values; None if the type decides by itself, and for introspection's types."""
    definition = type_.extensions.get(DEFINITION)
    return definition.origin if definition is not None and type_.is_type_of is None else None


def _size_of(values: list[Any]) -> int:
    """At least how many bytes these values have in the answer."""
    kinds = set(map(type, values))
    if kinds == {str}:
        return sum(map(len, values))
    if kinds == {WrittenNumbers}:
        return 2 * sum(map(len, values))
    if any(issubclass(kind, dict) for kind in kinds):
        return sum(len(orjson.dumps(value)) for value in values if isinstance(value, dict))
    return 0


def _write_leaf(type_: GraphQLLeafType, value: Any) -> Any:
    # A serializer like `str` would accept any of these as a value.
    if value is None or value is Undefined or isinstance(value, Exception) or hasattr(value, "__await__"):
        raise NeedsStockExecutor
    try:
        written = type_.coerce_output_value(value)
    except Exception as error:  # A scalar may refuse a value by any exception.
        raise NeedsStockExecutor from error
    if written is None or written is Undefined:
        raise NeedsStockExecutor
    return written
