"""JSON schemas as client generators read them best: plain names, and null only where a value can be null."""

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from schema.kit.deprecation import REASON

Schema = dict[str, Any]

REF = "#/components/schemas/"
_BOUNDS = {"ge": "minimum", "le": "maximum"}
# Below these keywords are values, not schemas.
_VALUES = frozenset({"const", "default", "enum", "example", "examples"})
_NULL = {"type": "null"}


class PlainNames(GenerateJsonSchema):
    """Names a page of shares `SharePage`."""

    def normalize_name(self, name: str) -> str:
        return super().normalize_name(re.sub(r"Page\[(\w+)\]", r"\1Page", name))


def cleaned(node: Any, *, are_names: bool = False) -> Any:
    """Without Pydantic's titles and defaults of null, and with JSON Schema's names of bounds.

    Pydantic leaves its own where a validator precedes the number. `are_names` says that the node's keys are
    names of schemas or properties.
    """
    if isinstance(node, list):
        return [cleaned(item) for item in node]
    if not isinstance(node, dict):
        return node
    if are_names:
        return {name: cleaned(value) for name, value in node.items()}
    return {
        _BOUNDS.get(key, key): value if key in _VALUES else cleaned(value, are_names=key == "properties")
        for key, value in _with_reason(node).items()
        if key != "title" and (key, value) != ("default", None)
    }


def without_null(schema: Schema) -> Schema:
    """The schema of the same values, but null."""
    branches = schema.get("anyOf", [])
    if _NULL not in branches:
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    others = [branch for branch in branches if branch != _NULL]
    return rest | (others[0] if len(others) == 1 else {"anyOf": others})


def settled(schema: Schema) -> Schema:
    """The schema of an object without what misleads generators about its optional properties.

    Answers leave out a field without a value (`exclude_if`), so an optional one of them is never null. For a
    field of an input that has a default, some generators demand a value: the description names the default.
    """
    change = _with_default_described if schema.get("additionalProperties") is False else without_null
    required, properties = schema.get("required", ()), schema.get("properties", {})
    changed = {name: change(value) for name, value in properties.items() if name not in required}
    return schema | {"properties": properties | changed} if properties else schema


def referenced(schemas: Mapping[str, Schema], *roots: Any) -> dict[str, Schema]:
    """The schemas that the roots refer to, by way of each other too."""
    reached: dict[str, Schema] = {}
    names = _names_in(roots)
    while names:
        found = {name: schemas[name] for name in names}
        reached |= found
        names = _names_in(found) - reached.keys()
    return dict(sorted(reached.items()))


def _names_in(node: Any) -> set[str]:
    return set(re.findall(rf'"{REF}(\w+)"', json.dumps(node)))


def _with_reason(node: Schema) -> Schema:
    """The reason of a deprecation in the description; OpenAPI itself has a flag only."""
    if REASON not in node:
        return node
    rest = {key: value for key, value in node.items() if key != REASON}
    return rest | {"description": f"{node.get('description', '')} {node[REASON]}".strip()}


def _with_default_described(schema: Schema) -> Schema:
    rest = {key: value for key, value in schema.items() if key != "default"}
    default = schema.get("default")
    if default in (None, []) or (isinstance(default, dict) and not any(default.values())):
        return rest
    text = default if isinstance(default, str) else json.dumps(default)
    return rest | {"description": f"{schema.get('description', '')} The default is `{text}`.".strip()}
