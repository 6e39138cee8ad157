"""Values beyond the bounds that operations declare, each at its place in the arguments of a call."""

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema_rs import Draft202012Validator

from resolvers.operations.declaration import Operation

Place = tuple[str | int, ...]
# What pydantic calls the bounds of a type that has validators around it.
_KEYWORDS = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum"}
# No format, pattern or choice of ours has them.
_ODD_TEXTS = ("", "\x01", "-1")
_ODD_NUMBERS = (-0.5, 10**30, 1e300)


def beyond_bounds(operation: Operation) -> Iterator[tuple[Place, Any]]:
    """Each place of the arguments of an operation with each value that its declaration does not allow."""
    schema = operation.arguments.model_json_schema()
    yield from _beyond(schema, schema.get("$defs", {}), ())


def call_with(operation: Operation, place: Place, value: Any) -> dict[str, Any]:
    """Arguments that have only this value, at this place; filters stand beside other parameters."""
    names = {parameter.name for parameter in operation.parameters if parameter.place == "filters"}
    for part in reversed(place[1:] if place[0] in names else place):
        value = [value] if isinstance(part, int) else {part: value}
    arguments: dict[str, Any] = value
    return arguments


def _beyond(
    schema: Mapping[str, Any], shared: Mapping[str, Any], place: Place
) -> Iterator[tuple[Place, Any]]:
    branches = list(_branches(schema, shared))
    validator = Draft202012Validator({"anyOf": branches, "$defs": shared})
    for value in (value for branch in branches for value in _odd_values(branch)):
        if place and not validator.is_valid(value):
            yield place, value
    for branch in branches:
        for name, below in branch.get("properties", {}).items():
            yield from _beyond(below, shared, (*place, name))
        if "items" in branch:
            yield from _beyond(branch["items"], shared, (*place, 0))


def _branches(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The kinds of value that are allowed, without null."""
    if "$ref" in schema:
        schema = shared[schema["$ref"].rpartition("/")[2]]
    for branch in [*schema.get("anyOf", ()), *schema.get("oneOf", ())]:
        yield from _branches(branch, shared)
    if schema.get("type", "null") != "null":
        yield {_KEYWORDS.get(name, name): bound for name, bound in schema.items()}


def _odd_values(branch: Mapping[str, Any]) -> Iterator[Any]:
    kind = branch["type"]
    if kind == "string":
        yield from (*_ODD_TEXTS, "x" * (branch.get("maxLength", 5_000) + 1))
    elif kind in ("integer", "number"):
        yield from _ODD_NUMBERS
        bounds = {"minimum": -1, "maximum": 1, "exclusiveMinimum": 0, "exclusiveMaximum": 0}
        yield from (branch[name] + beyond for name, beyond in bounds.items() if name in branch)
    elif kind == "array" and "maxItems" in branch:
        yield [None] * (branch["maxItems"] + 1)
    elif kind == "object" and "maxProperties" in branch:
        yield {f"key-{number}": "x" for number in range(branch["maxProperties"] + 1)}
