"""Values of several types have names of their own: generators call a union without one after its field."""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from rest_compat.openapi.schemas.plain import REF, Schema, cleaned
from schema.events.ingestion import CostAmount
from schema.kit.metadata import MetadataValue

_NAMED: Mapping[str, Schema] = {
    "CostAmount": cleaned(TypeAdapter(CostAmount).json_schema()),
    "MetadataValue": {
        **cleaned(TypeAdapter(MetadataValue).json_schema()),
        "description": "A value of a custom key.",
    },
}
_BY_TYPES = [(value["anyOf"], name) for name, value in _NAMED.items()]


def with_named_values(schemas: Mapping[str, Schema]) -> dict[str, Schema]:
    """The schemas with references in place of these values."""
    return {**{name: _referring(schema) for name, schema in schemas.items()}, **_NAMED}


def _referring(node: Any) -> Any:
    if isinstance(node, list):
        return [_referring(item) for item in node]
    if not isinstance(node, dict):
        return node
    for types, name in _BY_TYPES:
        if node.get("anyOf") == types:
            beside = {key: value for key, value in node.items() if key != "anyOf"}
            return {"$ref": REF + name, **beside}
    return {key: _referring(value) for key, value in node.items()}
