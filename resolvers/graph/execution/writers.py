"""Writers of selections: functions, generated from a shape and a selection, that make an answer's object."""

from collections.abc import Callable
from typing import Any

from graphql import GraphQLEnumType, GraphQLObjectType, get_named_type, get_nullable_type, is_list_type

from resolvers.graph.execution.executor import DEFINITION, PLAIN, NeedsStockExecutor
from resolvers.graph.execution.selections import TYPE_NAME, Selected, SelectedField
from resolvers.operations.shapes.shapes import Embedded, Part, Shape
from resolvers.operations.shapes.writers import Source, Writer, etag_of, field_value, key, rest_writer
from schema.kit.base import SHAPED
from schema.values.scalars import UNCHANGED, write_number

# Scalars whose values in JSON are those that REST writes too.
_AS_WRITTEN = frozenset({"DateTime", "Metadata", "ID", *UNCHANGED}) - {"Long"}


def selection_writer(shape: Shape[Any], selected: Selected) -> Writer:
    """The object of a line with the selected fields. Raises `NeedsStockExecutor` as `attribute_of` does.

    The names in the answer are a client's: `key` lets them into the source.
    """
    source = Source()
    fields = [
        f"    {key(name)}: {_value(shape, selected.type, field, source)},"
        for name, field in selected.fields.items()
    ]
    writer: Writer = source.function("line, services", ["return {", *fields, "}"])
    return writer


def _value(shape: Shape[Any], owner: GraphQLObjectType, field: SelectedField, source: Source) -> str:
    if field.name == TYPE_NAME:
        return repr(owner.name)
    attribute = attribute_of(owner, field.name)
    plain = {each.attribute for each in owner.extensions.get(PLAIN, {}).values()}
    if attribute == "etag" and not shape.omitted <= plain:
        raise NeedsStockExecutor  # It is made of what resolvers read too.
    if attribute == "etag":
        return f"{source.name(_etag_writer(shape))}(line, services)"
    if attribute not in shape.fields:
        return _omitted(shape, attribute, plain)
    below = field.below
    if isinstance(shape.fields[attribute], Part | Embedded) and below is not None:
        return field_value(shape, attribute, source, lambda inner: selection_writer(inner, below))
    return _leaf(field, field_value(shape, attribute, source, rest_writer), source)


def _leaf(field: SelectedField, value: str, source: Source) -> str:
    """A scalar, an enum, an object that a column holds as JSON, or a list of these."""
    named = get_named_type(field.type)
    if field.below is not None:
        write: Any = _json_writer(field.below)
    elif isinstance(named, GraphQLEnumType):
        names = {getattr(item.value, "value", item.value): name for name, item in named.values.items()}
        if not is_list_type(get_nullable_type(field.type)):
            # A value that is none of the enum's is an error, which the stock executor reports.
            return f"{source.name({None: None, **names})}[{value}]"
        write = names.get
    elif named.name == "Long":
        write = _write_long
    elif named.name in _AS_WRITTEN:
        return value
    else:
        raise NeedsStockExecutor
    if is_list_type(get_nullable_type(field.type)):
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
            value = _leaf(field, f"value[{attribute_of(selected.type, field.name)!r}]", source)
        fields.append(f"    {key(name)}: {value},")
    lines = ["if value is None:", "    return None", "return {", *fields, "}"]
    writer: Callable[[Any], Any] = source.function("value", lines)
    return writer


def attribute_of(owner: GraphQLObjectType, name: str) -> str:
    """The model's field behind a field of the graph. Raises `NeedsStockExecutor` for other resolvers."""
    plain = owner.extensions.get(PLAIN, {}).get(name)
    if plain is not None:
        return str(plain.attribute)
    shaped = owner.fields[name].extensions[DEFINITION].metadata.get(SHAPED)
    if shaped is None:
        raise NeedsStockExecutor
    return str(shaped)


def _omitted(shape: Shape[Any], attribute: str, plain: set[str]) -> str:
    """A field that the shape leaves out, if it is null then. Resolvers read what is left out."""
    if attribute not in shape.omitted & plain or shape.model.model_fields[attribute].default is not None:
        raise NeedsStockExecutor
    return "None"


def _etag_writer(shape: Shape[Any]) -> Writer:
    model: Any = shape.model
    return lambda line, services: etag_of(model, rest_writer(shape)(line, services))


def _write_long(value: Any) -> Any:
    return None if value is None else write_number(value)
