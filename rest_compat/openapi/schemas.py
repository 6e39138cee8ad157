"""JSON schemas as client generators read them best: plain names, and null only where a value can be null."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from schema.kit.deprecation import REASON

Schema = dict[str, Any]

REF = "#/components/schemas/"
_BOUNDS = {"ge": "minimum", "le": "maximum"}
_GENERIC = re.compile(r"Page_(\w+)_")
# Below these keywords are values, not schemas.
_VALUES = frozenset({"const", "default", "enum", "example", "examples"})
_NULL = {"type": "null"}


def cleaned(node: Any, *, are_names: bool = False) -> Any:
    """Without Pydantic's titles, which repeat names, and with JSON Schema's names of bounds.

    Pydantic leaves its own where a validator precedes the number. `are_names` says that the node's keys are
    names of schemas or properties.
    """
    if isinstance(node, list):
        return [cleaned(item) for item in node]
    if not isinstance(node, dict):
        return node
    if are_names:
        return {name: cleaned(value) for name, value in node.items()}
    node = _with_reason(node)
    return {
        _BOUNDS.get(key, key): value if key in _VALUES else cleaned(value, are_names=key == "properties")
        for key, value in node.items()
        if key != "title"
    }


def without_null(schema: Schema) -> Schema:
    """The schema of the same values, but null."""
    branches = schema.get("anyOf", [])
    if _NULL not in branches:
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    others = [branch for branch in branches if branch != _NULL]
    return rest | (others[0] if len(others) == 1 else {"anyOf": others})


def settled(schemas: Mapping[str, Schema]) -> dict[str, Schema]:
    """The schemas without what misleads generators.

    Answers leave out a field without a value (`exclude_if`), so an optional one of them is never null. For a
    field of an input that has a default, some generators demand a value: the description names the default.
    """
    return {
        name: _with_properties(schema, _described_default if _is_input(schema) else without_null)
        for name, schema in schemas.items()
    }


def referenced(schemas: Mapping[str, Schema], *roots: Any) -> dict[str, Schema]:
    """The schemas that the roots refer to, by way of each other too."""
    reached: dict[str, Schema] = {}
    waiting = [name for root in roots for name in _names_in(root)]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached[name] = schemas[name]
            waiting += _names_in(schemas[name])
    return dict(sorted(reached.items()))


def with_plain_names(document: dict[str, Any]) -> dict[str, Any]:
    """`SharePage` for `Page_Share_`, as GraphQL names it."""
    schemas = document["components"]["schemas"]
    names = {name: _GENERIC.sub(r"\1Page", name) for name in schemas if _GENERIC.fullmatch(name)}
    document["components"]["schemas"] = {names.get(name, name): schema for name, schema in schemas.items()}
    renamed: dict[str, Any] = _with_references(document, {REF + old: REF + new for old, new in names.items()})
    return renamed


def _with_reason(node: Schema) -> Schema:
    """The reason of a deprecation in the description; OpenAPI itself has a flag only."""
    if REASON not in node:
        return node
    rest = {key: value for key, value in node.items() if key != REASON}
    return rest | {"description": f"{node.get('description', '')} {node[REASON]}".strip()}


def _is_input(schema: Schema) -> bool:
    return schema.get("additionalProperties") is False


def _with_properties(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """The schema with its optional properties changed."""
    required = schema.get("required", ())
    properties = {
        name: value if name in required else change(value)
        for name, value in schema.get("properties", {}).items()
    }
    return schema | {"properties": properties} if properties else schema


def _described_default(schema: Schema) -> Schema:
    default = schema.get("default")
    rest = {key: value for key, value in schema.items() if key != "default"}
    if default in (None, [], {}):
        return rest
    return rest | {
        "description": f"{schema.get('description', '')} The default is `{_as_json(default)}`.".strip()
    }


def _as_json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _names_in(node: Any) -> list[str]:
    if isinstance(node, list):
        return [name for item in node for name in _names_in(item)]
    if not isinstance(node, dict):
        return []
    own = [node["$ref"].removeprefix(REF)] if str(node.get("$ref", "")).startswith(REF) else []
    return own + [name for value in node.values() for name in _names_in(value)]


def _with_references(node: Any, references: Mapping[str, str]) -> Any:
    if isinstance(node, list):
        return [_with_references(item, references) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: references.get(value, value)
        if key == "$ref" and isinstance(value, str)
        else _with_references(value, references)
        for key, value in node.items()
    }
