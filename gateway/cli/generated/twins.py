"""The fields of GraphQL that the operations of REST have."""

from resolvers.graph.execution.core_schema import core_schema
from resolvers.graph.root import exposed, make_schema
from resolvers.operations.declaration import Operation
from rest_compat.api import documented_routes


def twins_of_routes() -> dict[str, str]:
    """The field of each operation with its arguments, by the operation's name."""
    fields = {}
    for name, place in exposed(core_schema(make_schema())).items():
        path, arguments = ".".join(place.path), ", ".join(place.field.args)
        if place.operation.is_live:
            path = f"{place.kind} {path}"
        fields[name] = f"{path}({arguments})" if arguments else path
    return fields


def without_path() -> list[Operation]:
    """The subscriptions that REST has no stream for."""
    paths = {route.operation_id for route in documented_routes()}
    places = exposed(core_schema(make_schema())).values()
    return [each.operation for each in places if each.operation.is_live and each.operation.name not in paths]
