"""Writers: functions, generated from shapes, that make an answer's object from a line.

Their source has one expression for each field, so writing costs what a dictionary display costs.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, get_args

import orjson
from pydantic import BaseModel
from sqlalchemy import Column

from resolvers.operations.shapes.shapes import Counted, Derived, Embedded, Part, Shape
from schema.kit.annotations import is_list, unwrap
from schema.kit.base import Resource, entity_tag
from storage.dialects.json_rows import MOMENT, OFFSET, moment_text
from storage.types import JsonColumn, MomentColumn

# GraphQL's parser lets no other names in; what is made of these characters is one literal, whatever it says.
_NAME = re.compile("[_A-Za-z][_0-9A-Za-z]*")

# Of a line and the services: a value of the answer, as JSON has it.
Writer = Callable[[Any, Any], Any]


# The services in a writer whose second argument is an answer in the making.
SERVICES = "services.services"


class Source:
    """The source of a writer in the making: its lines, and the objects that they name."""

    def __init__(self, services: str = "services") -> None:
        # The expression of the services; nested writers get the second argument as it is.
        self.services = services
        self.names: dict[str, Any] = {}

    def name(self, value: Any) -> str:
        """A name for a value in the source."""
        name = f"v{len(self.names)}"
        self.names[name] = value
        return name

    def list_function(self, arguments: str, loop: str, item: str) -> Any:
        """A function of several lines that makes the list of their items, without a call for each.

        `loop` are the variables of the loop and what it goes through, `item` the expression of an item.
        """
        body = ["written = []", f"for {loop}:", f"    written.append({item})", "return written"]
        return self.function(arguments, body)

    def function(self, arguments: str, lines: list[str]) -> Any:
        body = "\n".join(f"    {line}" for line in lines)
        code = compile(f"def write({arguments}):\n{body}", "<writer>", "exec")
        exec(code, self.names)  # noqa: S102 - of declarations, and of names as `key` lets them in
        return self.names["write"]


def key(name: str) -> str:
    """The literal of a name that a client chose for a field. Raises `ValueError` for what is no name."""
    if _NAME.fullmatch(name) is None:
        raise ValueError("A name has other characters than a field of the graph.")
    return repr(name)


@cache
def rest_writer(shape: Shape[Any]) -> Writer:
    """The object of a line as REST writes it: every field in order, without those that are absent."""
    source = Source()
    writer: Writer = source.function("line, services", [*_making_answer(shape, source), "return answer"])
    return writer


@cache
def rest_list_writer(shape: Shape[Any]) -> Writer:
    """The list of the objects of several lines, as REST writes each, without a call for each."""
    source = Source()
    making = [f"    {line}" for line in _making_answer(shape, source)]
    body = ["written = []", "for line in lines:", *making, "    written.append(answer)", "return written"]
    writer: Writer = source.function("lines, services", body)
    return writer


def _making_answer(shape: Shape[Any], source: Source) -> list[str]:
    """The lines of source that make `answer` of a `line`."""
    lines = ["answer = {"]
    is_open = True
    for name in shape.fields:
        value, info = field_value(shape, name, source, rest_writer), shape.model.model_fields[name]
        if info.exclude_if is None:
            lines += [f"    {name!r}: {value},"] if is_open else [f"answer[{name!r}] = {value}"]
            continue
        lines += ["}"] if is_open else []
        is_open = False
        lines += [f"if (value := {value}) is not None:", f"    answer[{name!r}] = value"]
    return [*lines, "}"] if is_open else lines


def field_value(  # noqa: PLR0911 - one for each kind of source
    shape: Shape[Any], name: str, source: Source, writer_of: Callable[[Shape[Any]], Writer]
) -> str:
    """The expression of a field's value in the source of a writer; `writer_of` writes nested objects."""
    declared, place = shape.fields[name], shape.places[name]
    cell = f"line[{place}]"
    match declared:
        case Derived(make, columns):
            own = range(place, place + len(columns))
            cells = [f"line[{cell}]" for cell in [*own, *map(shape.places.__getitem__, declared.computed)]]
            arguments = [source.services, *cells] if declared.uses_services else cells
            return f"{source.name(make)}({', '.join(arguments)})"
        case Embedded(inner):
            return f"{source.name(writer_of(inner))}({cell}, services)"
        case Part(inner, many=True):
            # An empty list, which most are, is not worth a comprehension's call.
            return f"([{source.name(writer_of(inner))}(line, services) for line in {cell}] if {cell} else [])"
        case Part(inner):
            return f"({source.name(writer_of(inner))}({cell}[0], services) if {cell} else None)"
        case Counted():
            return f"({cell} or 0)"  # Null if it was not selected.
        case Column() if isinstance(declared.type, MomentColumn):
            # A page has dozens, and calling a function for each takes longer than what it does.
            usual = f"moment[:{len(MOMENT)}] + 'Z' if len(moment) == {len(MOMENT + OFFSET)}"
            other = f"moment if moment[-1] == 'Z' else {source.name(moment_text)}(moment)"
            return f"(None if (moment := {cell}) is None else {usual} else {other})"
        case Column() if isinstance(declared.type, JsonColumn):
            return f"({_json_value(shape.model.model_fields[name].annotation, cell, source)})"
    return cell


def _json_value(annotation: Any, value: str, source: Source) -> str:
    """The expression of a JSON value of this type, with the defaults of what its objects lack."""
    model = _model_of(annotation)
    if model is not None:
        return f"{source.name(json_writer(model))}({value})"
    item = _model_of(get_args(unwrap(annotation))[0]) if is_list(annotation) else None
    if item is None:
        return value
    write = source.name(json_writer(item))
    return f"[{write}(item) for item in items] if (items := {value}) is not None else None"


@cache
def json_writer(model: type[BaseModel]) -> Callable[[Any], Any]:
    """The object of a JSON value in a column, with the defaults of the fields that it lacks."""
    source = Source()
    fields = []
    for name, info in model.model_fields.items():
        default = info.get_default(call_default_factory=True)
        if isinstance(default, BaseModel):
            default = default.model_dump(mode="json")
        value = f"value.get({name!r}, {source.name(default)})"
        fields.append(f"    {name!r}: {_json_value(info.annotation, value, source)},")
    lines = ["if value is None:", "    return None", "return {", *fields, "}"]
    writer: Callable[[Any], Any] = source.function("value", lines)
    return writer


def _model_of(annotation: Any) -> type[BaseModel] | None:
    type_ = unwrap(annotation)
    return type_ if isinstance(type_, type) and issubclass(type_, BaseModel) else None


def etag_of(model: type[Resource], written: Mapping[str, Any]) -> str:
    """The entity tag of the answer's bytes, nested data included."""
    content = {name: value for name, value in written.items() if name not in model.unhashed}
    return entity_tag(orjson.dumps(content))
