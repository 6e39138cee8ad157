"""Resolvers of every field, so that graphql-core's executor answers documents: plans are compared with it.

The product has none: it reads documents by plans. Links are read in batches, level by level.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID
from weakref import WeakSet

import pytest
from graphql import GraphQLField, GraphQLObjectType, GraphQLResolveInfo
from sqlalchemy import select
from strawberry.dataloader import DataLoader
from strawberry.types.nodes import InlineFragment, SelectedField, Selection, convert_selections
from strawberry.utils.str_converters import to_snake_case

from oauth.scopes import Scope
from resolvers.customers.conditions import of_customers
from resolvers.graph.execution.argument_readers import read_arguments
from resolvers.graph.execution.core_schema import core_schema
from resolvers.graph.execution.fields import IF_MATCH, OPERATION, located, selected_paths, validated
from resolvers.graph.execution.nodes import node_with
from resolvers.graph.execution.plain_fields import DEFINITION
from resolvers.graph.survey.documents import KeptDocument
from resolvers.links import LINKS
from resolvers.operations.context import Context, Outcome
from resolvers.operations.declaration import Operation
from resolvers.operations.limits.admission import Demand, check_demands
from resolvers.operations.rows.access import visible
from resolvers.operations.rows.links import ToMany, ToOne
from resolvers.operations.rows.reading import read_by_keys
from resolvers.operations.runner import run
from resolvers.operations.shapes.shaped import as_model
from schema.customers.customers import Customer
from schema.customers.members import Member
from schema.errors import Invalid
from schema.kit.links import SCOPE, RowKey
from schema.kit.nodes import LOOKUP
from schema.kit.pages import paging_of
from schema.workspaces.workspaces import Workspace
from storage.rows.rows import every, every_of, table_of, values_of
from storage.tables.customers.customers import MemberRow
from storage.tables.workspaces.workspaces import WorkspaceRow
from tests.support.executor.linked_pages import PageKey, load_pages

Resolve = Callable[..., Any]
Batch = Callable[[Context, Sequence[Any]], Awaitable[list[Any]]]
_equipped: WeakSet[Any] = WeakSet()


def without_plans(monkeypatch: pytest.MonkeyPatch, schema: Any) -> None:
    """Have graphql-core's executor answer all documents."""
    if schema not in _equipped:
        _equip(core_schema(schema))
        _equipped.add(schema)
    monkeypatch.setattr(KeptDocument, "plan", lambda *_: None)


def _equip(schema: Any) -> None:
    for type_ in schema.type_map.values():
        for name, field in type_.fields.items() if isinstance(type_, GraphQLObjectType) else ():
            declared = field.extensions.get(DEFINITION)
            if declared is not None and (resolve := _resolver(type_, to_snake_case(name), field, declared)):
                field.resolve = resolve


def _resolver(owner: GraphQLObjectType, name: str, field: GraphQLField, declared: Any) -> Resolve | None:
    metadata = declared.metadata
    if OPERATION in metadata:
        return _root(field, metadata[OPERATION])
    if SCOPE in metadata:
        link = LINKS[owner.extensions[DEFINITION].origin][name]
        return _list(link, metadata[SCOPE]) if isinstance(link, ToMany) else _row(link, metadata[SCOPE])
    if LOOKUP in metadata and owner.name == "Query":
        return _node(field, metadata[LOOKUP])
    if owner.name == Customer.__name__:
        return {"members": _members, "etag": _etag}.get(name)
    return None


def _root(field: GraphQLField, operation: Operation) -> Resolve:
    async def resolve(_: Any, info: GraphQLResolveInfo, **sent: Any) -> Any:
        arguments = read_arguments(field, sent)
        ctx = _context(info, operation, arguments.pop(IF_MATCH.name, None))
        check_demands(ctx.caller, [Demand.of(operation)])
        try:
            return as_model(await run(operation, ctx, validated(operation, arguments)))
        except Invalid as invalid:
            raise located(operation, invalid) from None

    return resolve


def _context(info: GraphQLResolveInfo, operation: Operation, if_match: str | None) -> Context:
    """The request's context with this field's own selection and precondition."""
    ctx: Context = info.context["ctx"]
    if ctx.caller.units is None:
        ctx.caller.limit_units()
    fields: Any = convert_selections(info, info.field_nodes)
    below = [each for field in fields for each in field.selections]
    selection = None if operation.changes else selected_paths(_paths(below, ""))
    outcome = ctx.outcome if operation.changes else Outcome()
    return replace(ctx, selection=selection, if_match=if_match, outcome=outcome)


def _paths(selections: Sequence[Selection], prefix: str) -> set[str]:
    """The dotted snake-case paths of the selected fields."""
    paths: set[str] = set()
    for selection in selections:
        if _is_left_out(selection):
            continue
        if isinstance(selection, SelectedField):
            path = prefix + to_snake_case(selection.name)
            paths |= {path} | _paths(selection.selections, f"{path}.")
        else:
            paths |= _paths(selection.selections, prefix)
    return paths


def _is_left_out(selection: SelectedField | InlineFragment | Any) -> bool:
    """Whether `@skip` or `@include` leaves it out of the answer."""
    skip, include = (selection.directives.get(name, {}).get("if") for name in ("skip", "include"))
    return skip is True or include is False


def _node(field: GraphQLField, operations: Any) -> Resolve:
    async def resolve(_: Any, info: GraphQLResolveInfo, **sent: Any) -> Any:
        async def read(operation: Operation, values: dict[str, Any]) -> Any:
            return await run(operation, _context(info, operation, None), values)

        id = read_arguments(field, sent)["id"]
        return as_model(await node_with(info.context["ctx"], operations, id, "", read))

    return resolve


def _load(info: GraphQLResolveInfo, name: Any, batch: Batch, key: Any) -> Awaitable[Any]:
    """What the batch has for `key`; keys requested at the same time are loaded together."""
    loaders = info.context.setdefault("loaders", {})
    if name not in loaders:
        loaders[name] = DataLoader(load_fn=partial(batch, info.context["ctx"]))
    found: Awaitable[Any] = loaders[name].load(key)
    return found


def _row(link: ToOne, scope: Scope) -> Resolve:
    async def load(ctx: Context, keys: Sequence[RowKey]) -> list[Any]:
        fetch = partial(ctx.fetch, replica=link.replica)
        rows = await read_by_keys(ctx, fetch, link.model, link.shape, keys)
        return [as_model(rows.get(key)) for key in keys]

    async def resolve(source: Any, info: GraphQLResolveInfo) -> Any:
        check_demands(info.context["ctx"].caller, [Demand(scope)])
        id = getattr(source, link.by)
        if id is None:
            return None
        if link.model is WorkspaceRow:
            return await _load(info, "workspace", _load_workspaces, id)
        return await _load(info, (link.model, link.shape), load, RowKey(source.workspace_id, id))

    return resolve


async def _load_workspaces(ctx: Context, ids: Sequence[UUID]) -> list[Workspace | None]:
    seen = visible(WorkspaceRow, ctx.principal)
    async with ctx.read() as connection:
        rows = await every(connection, WorkspaceRow, seen, table_of(WorkspaceRow).c.id.in_(ids))
    workspaces = {row.id: values_of(row) for row in rows}
    return [Workspace.model_validate(workspaces[id]) if id in workspaces else None for id in ids]


def _list(link: ToMany, scope: Scope) -> Resolve:
    async def resolve(source: Any, info: GraphQLResolveInfo, **sent: Any) -> Any:
        check_demands(info.context["ctx"].caller, [Demand(scope)])
        asked = paging_of(**sent)
        key = PageKey(source.workspace_id, source.id, asked.limit, asked.page, asked.after, counted=True)
        return await _load(info, (link.listing, link.column), partial(load_pages, link), key)

    return resolve


async def _load_members(ctx: Context, keys: Sequence[tuple[UUID, UUID]]) -> list[list[Member]]:
    """The members of each of these customers, oldest first."""
    rows = table_of(MemberRow)
    statement = select(rows).where(visible(MemberRow, ctx.principal), of_customers(keys))
    members: dict[Any, list[Member]] = defaultdict(list)
    async with ctx.read() as connection:
        for row in await every_of(connection, MemberRow, statement.order_by(rows.c.created_at, rows.c.id)):
            members[row.workspace_id, row.customer_id].append(Member.model_validate(values_of(row)))
    return [members[key] for key in keys]


async def _members(customer: Any, info: GraphQLResolveInfo) -> list[Member]:
    if customer.members is not None:
        return list(customer.members)
    members: list[Member] = await _load(info, "members", _load_members, (customer.workspace_id, customer.id))
    return members


async def _etag(customer: Any, info: GraphQLResolveInfo) -> str:
    whole = customer.model_copy(update={"members": await _members(customer, info)})
    return str(whole.etag_text())
