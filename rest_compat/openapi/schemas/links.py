"""Links in the schemas of resources: there where a request expands them, and absent otherwise."""

from collections.abc import Mapping

from resolvers.expansion import is_list, target_of
from resolvers.links import LINKS
from rest_compat.openapi.schemas.plain import REF, Schema


def with_links(schemas: Mapping[str, Schema]) -> dict[str, Schema]:
    """The schemas, those of resources with a property for each link."""
    linked = dict(schemas)
    for model, links in LINKS.items():
        owner = model.__name__
        if owner not in schemas:
            continue
        properties = dict(schemas[owner]["properties"])
        for name, link in links.items():
            target = f"{target_of(link).__name__}{'Page' if is_list(model, name) else ''}"
            form = {"$ref": f"{REF}{target}"}
            properties[name] = {
                "anyOf": [form] if is_list(model, name) else [form, {"type": "null"}],
                "description": f"Only with `expand={name}`.",
            }
        linked[owner] = schemas[owner] | {"properties": properties}
    return linked
