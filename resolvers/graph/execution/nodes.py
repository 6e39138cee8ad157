"""`node(id)`: any resource by its id, as Relay's clients read resources again.

Ids are UUIDs, unique over all resources, so the id of a resource is its global id too.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Annotated, Any
from uuid import UUID

import strawberry
from graphql import GraphQLSchema
from sqlalchemy import Select, Uuid, bindparam, literal, select, union_all

from resolvers.graph.execution.fields import OPERATION, located
from resolvers.graph.execution.plain_fields import DEFINITION
from resolvers.operations.context import Context
from resolvers.operations.declaration import Operation
from resolvers.operations.limits.admission import Demand, check_demands
from resolvers.operations.rows.access import visible
from resolvers.operations.rows.plans import form_of, plan_for, with_places
from schema.errors import InsufficientScope, Invalid, NotFound, NotPermitted, Unauthorized
from schema.kit.base import Resource
from schema.kit.links import READ_BY_A_PLAN
from schema.kit.nodes import LOOKUP, Node
from storage.tables.registry import METADATA, MODELS

# Reads a resource by its operation and the values of the operation's arguments.
Read = Callable[[Operation, dict[str, Any]], Awaitable[Any]]


def nodes_of(query: type[Any]) -> dict[str, Operation]:
    """The operations that read one row by its id, by its table: `get_share` reads `shares`."""
    operations = [field.metadata.get(OPERATION) for field in query.__strawberry_definition__.fields]
    reads = [each for each in operations if each is not None and each.name.startswith("get_")]
    tables = {f"{each.name.removeprefix('get_')}s": each for each in reads}
    return {name: each for name, each in tables.items() if name in METADATA.tables and _is_node(each)}


def _is_node(operation: Operation) -> bool:
    has_id = any(parameter.name == "id" for parameter in operation.parameters)
    return has_id and isinstance(operation.answer, type) and issubclass(operation.answer, Resource)


def declare_nodes(operations: Iterable[Operation]) -> None:
    """Make the types that the operations return implementations of `Node`, before the schema is made."""
    interface = Node.__strawberry_definition__  # type: ignore[attr-defined]
    for operation in operations:
        interfaces = operation.answer.__strawberry_definition__.interfaces
        # A schema that could not be made may be made again, to say why once more.
        if interface not in interfaces:
            interfaces.append(interface)


def name_nodes(schema: GraphQLSchema, operations: Mapping[str, Operation]) -> None:
    """Tell the type of a node by its class; objects of other fields are not asked for theirs.

    Fields of other types that lead to nodes find them by these operations.
    """
    interface: Any = schema.type_map[Node.__name__]
    types: dict[type[Any], str] = {}
    for each in schema.get_possible_types(interface):
        each.is_type_of = None
        types[each.extensions["strawberry-definition"].origin] = each.name
    for named in schema.type_map.values():
        for field in getattr(named, "fields", {}).values():
            declared = getattr(field, "extensions", {}).get(DEFINITION)
            if declared is not None and LOOKUP in declared.metadata:
                declared.metadata = {**declared.metadata, LOOKUP: operations}
    interface.resolve_type = lambda value, *_: types[type(value)]


def operations_of_nodes(schema: GraphQLSchema) -> Mapping[str, Operation]:
    """The operations that read one resource by its id, by its table."""
    field = schema.query_type and schema.query_type.fields["node"]
    found: Mapping[str, Operation] = field.extensions[DEFINITION].metadata[LOOKUP] if field else {}
    return found


def node_field(operations: Mapping[str, Operation]) -> Any:
    """The field `node` over these operations."""

    async def find_node(
        id: Annotated[UUID, strawberry.argument(description="The id of a resource.")],
    ) -> Node | None:
        raise TypeError(READ_BY_A_PLAN)

    description = "Returns the resource with this id. Needs the scope that reads resources of its type."
    return strawberry.field(find_node, description=description, metadata={LOOKUP: operations})


async def node_with(
    ctx: Context, operations: Mapping[str, Operation], id: Any, likely: str, read: Read
) -> Any:
    """What `read` makes of the operation that reads this resource; that of the table `likely` is tried first.

    Raises `Invalid`, `Unauthorized`, and `NotFound` for what the caller may not see.
    """
    if ctx.caller.principal is None:
        raise Unauthorized
    values = validated_id(next(iter(operations.values())), id)
    left = dict(operations)
    if (first := left.pop(likely, None)) is not None:
        with suppress(NotFound, InsufficientScope, NotPermitted):
            check_demands(ctx.caller, [Demand.of(first)])
            return await read(first, values)
    operation = left.get(await _table_with(ctx, tuple(left), values["id"]))
    if operation is None:
        raise _absent()
    try:
        check_demands(ctx.caller, [Demand.of(operation)])
        return await read(operation, values)
    except (NotFound, InsufficientScope, NotPermitted):
        raise _absent() from None


def validated_id(operation: Operation, id: Any) -> dict[str, Any]:
    """The id as any operation takes it. Raises `Invalid`."""
    try:
        return {"id": operation.validate({"id": id})["id"]}
    except Invalid as invalid:
        raise located(operation, invalid) from None


async def _table_with(ctx: Context, names: tuple[str, ...], id: UUID) -> str:
    """The table in which the caller can see a row with this id; empty without one."""

    def make() -> Select[Any]:
        place, caller = bindparam("id", type_=Uuid()), with_places(ctx.principal)
        parts = [
            select(literal(name).label("name")).where(
                visible(MODELS[name], caller), METADATA.tables[name].c.id == place
            )
            for name in names
        ]
        return select(union_all(*parts).subquery().c.name).limit(1)

    plan = plan_for(ctx, ("node", names, form_of(ctx.principal)), make)
    found = await ctx.fetch(plan, {"id": id, **ctx.principal.ids})
    return str(found[0][0]) if found else ""


def _absent() -> NotFound:
    return NotFound("There is no such resource.")
