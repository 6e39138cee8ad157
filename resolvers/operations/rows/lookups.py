"""Look-ups of the row that an operation reads or changes, and of the workspace in which it creates one."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import Column, ColumnElement, Select, bindparam, func, select

from oauth.principals import PrincipalKind
from resolvers.operations.context import Context
from resolvers.operations.rows.access import absent, reachable, visible
from resolvers.operations.rows.plans import form_of, plan_for, with_places
from schema.errors import Invalid, NotFound, NotPermitted, problem
from storage.dialects.matching import among
from storage.engine.statements.kept import Kept
from storage.enums import WorkspaceRole
from storage.rows.rows import Model, read, table_of, values_of
from storage.tables.workspaces.workspaces import WorkspaceMemberRow, WorkspaceRow

_members, _workspaces = table_of(WorkspaceMemberRow), table_of(WorkspaceRow)
_CURRENCY = Kept(
    select(_workspaces.c.default_presentment_currency).where(_workspaces.c.id == bindparam("home"))
)


async def get_visible(ctx: Context, model: type[Model], **values: Any) -> Model:
    """The visible row with these column values. Raises `NotFound`."""
    # Several in one document are read side by side.
    await ctx.go_apart()
    return _present(await _find(ctx, model, values), model)


async def get_for_update(ctx: Context, model: type[Model], **values: Any) -> Model:
    """The visible row with these column values, locked until the change ends; then compares `If-Match`.

    Raises `NotFound`, `PreconditionFailed` and what `check_owner` raises.
    """
    if ctx.owners_only or ctx.principal.workspace_id is None:
        columns = values_of(_present(await _find(ctx, model, values), model))
        # A removal locks the membership before its user's rows too: one order avoids deadlocks.
        await check_owner(ctx, columns["id"] if model is WorkspaceRow else columns.get("workspace_id"))
        if "workspace_id" in table_of(model).primary_key.columns:
            # A lock names one workspace: a cluster refuses one among all the user's workspaces.
            values["workspace_id"] = columns["workspace_id"]
    row = _present(await _find(ctx, model, values, lock=True), model)
    if ctx.precondition is not None:
        await ctx.precondition()
    return row


async def has_as_many(ctx: Context, condition: ColumnElement[bool], ids: Column[Any], most: int) -> bool:
    """Whether at least `most` rows meet the condition; `ids` is a column of theirs."""
    last = select(ids).where(condition).offset(most - 1).limit(1)
    return (await ctx.connection.execute(last)).first() is not None


async def workspace_for(ctx: Context, workspace_id: UUID | None) -> UUID:
    """The workspace in which the caller creates something; by default the only one it has access to.

    Raises `NotFound` if the workspace is not visible, `Invalid` if there is no default, and what
    `check_owner` raises.
    """
    workspace_id = await _choose_workspace(ctx, workspace_id)
    await check_owner(ctx, workspace_id)
    return workspace_id


async def default_currency(ctx: Context, workspace_id: UUID) -> str:
    """The currency of a workspace's prices that are sent without one."""
    ((currency,),) = await ctx.connection.rows(_CURRENCY, {"home": workspace_id})
    return str(currency)


async def check_owner(ctx: Context, workspace_id: UUID | None) -> None:
    """Raises `NotPermitted` if the operation is for owners and the caller's user does not own the workspace.

    A workspace token passes: an owner granted its scopes. A row without a workspace is the user's own.
    Such an operation is a change: the membership is locked, so the user stays an owner until it ends.
    """
    principal = ctx.principal
    if not ctx.owners_only or workspace_id is None or principal.kind is PrincipalKind.WORKSPACE_TOKEN:
        return
    user_id = principal.user_id or principal.maker_user_id
    same = (_members.c.workspace_id == workspace_id, _members.c.user_id == user_id)
    statement = select(_members.c.role).where(*same).with_for_update(read=True)
    role = (await ctx.connection.execute(statement)).scalar()
    if role != WorkspaceRole.OWNER:
        raise NotPermitted("Only an owner of the workspace can do this. Ask one of them.")


async def _choose_workspace(ctx: Context, workspace_id: UUID | None) -> UUID:
    if workspace_id is not None:
        await get_visible(ctx, WorkspaceRow, id=workspace_id)
        return workspace_id
    if ctx.principal.workspace_id is not None:
        return ctx.principal.workspace_id
    async with ctx.read() as connection:
        result = await connection.execute(reachable(ctx.principal).limit(2))
        workspace_ids: list[UUID] = list(result.scalars())
    if len(workspace_ids) == 1:
        return workspace_ids[0]
    message = "Send `workspace_id`: this credential has access to several workspaces, or to none"
    raise Invalid([problem(("data", "workspace_id"), message, "missing")])


async def check_workspaces(ctx: Context, ids: list[UUID] | None) -> None:
    """Raises `NotFound` if one of the workspaces that filter a list is not visible."""
    if not ids:
        return
    distinct = set(ids)

    def make() -> Select[int]:
        table = table_of(WorkspaceRow)
        named = among(table.c.id, "ids")
        return select(func.count()).where(visible(WorkspaceRow, with_places(ctx.principal)), named)

    plan = plan_for(ctx, ("workspaces", form_of(ctx.principal)), make)
    ((count,),) = await ctx.fetch(plan, {"ids": list(distinct), **ctx.principal.ids})
    if count != len(distinct):
        raise NotFound("There is no such workspace.")


async def _find(
    ctx: Context, model: type[Model], values: Mapping[str, Any], *, lock: bool = False
) -> Model | None:
    """The visible row with these column values."""

    def make() -> Select[Any]:
        table = table_of(model)
        same = [table.c[name] == bindparam(name, type_=table.c[name].type) for name in values]
        statement = select(table).where(visible(model, with_places(ctx.principal)), *same)
        return statement.with_for_update() if lock else statement

    plan = plan_for(ctx, ("row", model, tuple(values), form_of(ctx.principal), lock), make)
    rows = ctx.services.database.converted(plan, await ctx.fetch(plan, {**values, **ctx.principal.ids}))
    return read(model, rows[0]) if rows else None


def _present(row: Model | None, model: type[Model]) -> Model:
    if row is None:
        raise absent(model)
    return row
