"""Prices as unions: which fields a price has follows from its `amount_type`."""

from collections.abc import Mapping
from typing import Any

from rest_compat.openapi.schemas.plain import REF, Schema, without_null
from schema.shares.prices import KIND_FIELDS, Price, PriceInput
from schema.shares.shares import ShareCreate
from storage.enums import PriceAmountType

_KIND = "amount_type"
_OF_KINDS = frozenset().union(*KIND_FIELDS.values())
# What an answer always has, and what a new price needs, besides `amount_type`.
_ALWAYS = frozenset({"price_amount", "price_currency"})
_NEEDED = frozenset({"price_amount"})


def with_price_unions(schemas: Mapping[str, Schema]) -> dict[str, Schema]:
    """The schemas with a price and its input split by kind; a price that is kept is named by its `id`."""
    priced, sent = schemas[Price.__name__], schemas[PriceInput.__name__]
    variants = {f"{kind.value.title()}Price": _variant(priced, kind, _ALWAYS) for kind in PriceAmountType}
    new = {f"New{kind.value.title()}Price": _new(sent, kind) for kind in PriceAmountType}
    return {
        **schemas,
        ShareCreate.__name__: _of_new_prices(schemas[ShareCreate.__name__]),
        **variants,
        **new,
        Price.__name__: _union(priced["description"], variants),
        "NewPrice": _union("A new price.", new),
        "KeptPrice": _kept(sent),
        PriceInput.__name__: {
            # Not by way of NewPrice: some generators write no union of unions.
            "oneOf": [{"$ref": f"{REF}{name}"} for name in (*new, "KeptPrice")],
            "description": "A new price, or the `id` of a current price of the share to keep.",
        },
    }


def _of_new_prices(schema: Schema) -> Schema:
    """A new share has no current prices."""
    prices = schema["properties"]["prices"]
    own = {
        "items": {"$ref": f"{REF}NewPrice"},
        "description": prices["description"].replace(" An `id` keeps a current price.", ""),
    }
    return schema | {"properties": schema["properties"] | {"prices": prices | own}}


def _variant(schema: Schema, kind: PriceAmountType, required: frozenset[str]) -> Schema:
    own = KIND_FIELDS[kind]
    properties = {
        name: {"type": "string", "const": kind.value} if name == _KIND else value
        for name, value in schema["properties"].items()
        if name in own or name not in _OF_KINDS
    }
    names = [name for name in properties if name in {*schema.get("required", ()), _KIND, *(required & own)}]
    return schema | {"properties": properties, "required": names, "description": f"A {kind.value} price."}


def _new(schema: Schema, kind: PriceAmountType) -> Schema:
    variant = _variant(schema, kind, _NEEDED)
    properties = {name: value for name, value in variant["properties"].items() if name != "id"}
    needed = {name: without_null(properties[name]) for name in _NEEDED & properties.keys()}
    return variant | {"properties": properties | needed, "description": f"A new {kind.value} price."}


def _kept(schema: Schema) -> Schema:
    properties = schema["properties"] | {"id": without_null(schema["properties"]["id"])}
    return schema | {
        "properties": properties,
        "required": ["id"],
        "description": "A current price of the share, which stays as it is.",
    }


def _union(description: str, variants: Mapping[str, Schema]) -> dict[str, Any]:
    mapping = {schema["properties"][_KIND]["const"]: REF + name for name, schema in variants.items()}
    return {
        "description": description,
        "oneOf": [{"$ref": reference} for reference in mapping.values()],
        "discriminator": {"propertyName": _KIND, "mapping": mapping},
    }
