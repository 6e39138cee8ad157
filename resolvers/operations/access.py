"""The rows that a caller can see, and the workspaces in which it can create some: decided only here."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    ScalarSelect,
    Select,
    and_,
    bindparam,
    exists,
    false,
    func,
    or_,
    select,
    true,
)
from sqlmodel import SQLModel

from oauth.principals import Principal, PrincipalKind
from resolvers.operations.context import Context
from resolvers.operations.plans import form_of, plan_for, values_of_caller, with_places
from schema.errors import Invalid, NotFound, NotPermitted, problem
from storage.dialects.matching import AnyOf, ListOf
from storage.enums import CredentialKind, Visibility, WorkspaceRole
from storage.rows import Model, first_of, table_of, values_of
from storage.tables.credentials import CredentialRow
from storage.tables.customers import CustomerRow, CustomerSessionRow, MemberRow
from storage.tables.file_share_sessions import FileShareSessionRow
from storage.tables.oauth_clients import OAuthClientRow
from storage.tables.oauth_grants import OAuthConsentRow
from storage.tables.second_factors import PasskeyRow
from storage.tables.shares import ShareRow
from storage.tables.users import UserRow
from storage.tables.workspaces import WorkspaceMemberRow, WorkspaceRow
from storage.totals.periods import Workspaces
from storage.totals.reading import total_of

# The condition on the rows that a caller sees.
Seen = Callable[[Principal], ColumnElement[bool]]

_members, _users = table_of(WorkspaceMemberRow), table_of(UserRow)
# The column that ties a row to its customer; customers cannot see tables that are not listed.
_CUSTOMER_COLUMNS: dict[type[SQLModel], str] = {
    CustomerRow: "id",
    MemberRow: "customer_id",
    CustomerSessionRow: "customer_id",
    FileShareSessionRow: "customer_id",
}
_OF_USERS = (CredentialKind.PERSONAL_TOKEN.value, CredentialKind.BROWSER_SESSION.value)


def reachable(principal: Principal) -> Select[UUID]:
    """The workspaces that the principal has access to, as a subquery of ids."""
    if principal.workspace_id is not None:
        workspaces = table_of(WorkspaceRow)
        return select(workspaces.c.id).where(workspaces.c.id == principal.workspace_id)
    return select(_members.c.workspace_id).where(_members.c.user_id == principal.user_id)


def visible(model: type[SQLModel], principal: Principal) -> ColumnElement[bool]:
    """The condition on the rows of `model` that the principal can see; deleted rows are never visible."""
    if model in _OWN_CONDITIONS:
        return false() if principal.customer_id is not None else _OWN_CONDITIONS[model](principal)
    table = table_of(model)
    owner = table.c.id if model is WorkspaceRow else table.c.workspace_id
    if principal.customer_id is not None:
        condition: ColumnElement[bool] = and_(
            owner == principal.workspace_id, _visible_to_customer(model, principal), _is_present(principal)
        )
    elif principal.workspace_id is not None:
        condition = owner == principal.workspace_id
    else:
        condition = owner.in_(reachable(principal))
    return and_(condition, table.c.deleted_at.is_(None) if "deleted_at" in table.columns else true())


def total_visible(
    model: type[SQLModel], principal: Principal, filters: Mapping[str, Any], workspace_ids: list[UUID] | None
) -> ScalarSelect[int] | None:
    """The number of rows that the principal can see and that have these values, if this total is kept.

    `filters` are as `total_of` takes them. Of a list that filters by workspaces too, `workspace_ids` are
    those.
    """
    if model in _OWN_CONDITIONS or model is WorkspaceRow:
        return None
    if principal.customer_id is not None:
        own = _customer_values(model, principal)
        if own is None or own.keys() & filters.keys():
            return None
        filters = {**filters, **own}

    return total_of(model, filters, workspaces_of(principal, workspace_ids))


def workspaces_of(principal: Principal, ids: list[UUID] | None) -> Workspaces:
    """What makes the condition on a column of workspaces: the accessible ones, of `ids` if there are some."""

    def among(column: ColumnElement[UUID]) -> ColumnElement[bool]:
        if principal.workspace_id is None:
            condition: ColumnElement[bool] = column.in_(reachable(principal))
        else:
            condition = column == principal.workspace_id
        if principal.customer_id is not None:
            condition &= _is_present(principal)
        return condition if ids is None else condition & column.in_(ids)

    return among


def _customer_values(model: type[SQLModel], principal: Principal) -> Mapping[str, Any] | None:
    """The values that a workspace's rows must have for a customer to see them; None if it sees none."""
    if model is ShareRow:
        return {"visibility": Visibility.PUBLIC.value, "is_archived": False}
    if model in _CUSTOMER_COLUMNS:
        return {_CUSTOMER_COLUMNS[model]: principal.customer_id}
    return None


def _visible_to_customer(model: type[SQLModel], principal: Principal) -> ColumnElement[bool]:
    """The condition on a workspace's rows: the customer's own, and those that are public."""
    if model is WorkspaceRow:
        return true()
    values = _customer_values(model, principal)
    if values is None:
        return false()
    return and_(*(table_of(model).c[name] == value for name, value in values.items()))


def _is_present(principal: Principal) -> ColumnElement[bool]:
    """The condition that the session's customer, and its member if it has one, still exist."""

    def exists_still(model: type[SQLModel], id: UUID | None) -> ColumnElement[bool]:
        # An alias, because the query may select from the same table.
        table = table_of(model).alias()
        mine = and_(table.c.workspace_id == principal.workspace_id, table.c.id == id)
        return exists(select(table.c.id).where(mine, table.c.deleted_at.is_(None)))

    customer = exists_still(CustomerRow, principal.customer_id)
    if principal.member_id is None:
        return customer
    return and_(customer, exists_still(MemberRow, principal.member_id))


def _visible_credentials(principal: Principal) -> ColumnElement[bool]:
    """Unrevoked access tokens of accessible workspaces, and a user's own tokens and sessions."""
    table = table_of(CredentialRow)
    of_workspace = and_(
        table.c.kind == CredentialKind.WORKSPACE_TOKEN.value, table.c.workspace_id.in_(reachable(principal))
    )
    of_user = or_(*(table.c.kind == kind for kind in _OF_USERS))
    own = and_(of_user, table.c.user_id == principal.user_id)
    return and_(or_(of_workspace, own if _is_user(principal) else false()), table.c.revoked_at.is_(None))


def _visible_clients(principal: Principal) -> ColumnElement[bool]:
    """The OAuth clients of accessible workspaces, and a user's own."""
    table = table_of(OAuthClientRow)
    own = and_(table.c.workspace_id.is_(None), table.c.user_id == principal.user_id)
    manageable = or_(table.c.workspace_id.in_(reachable(principal)), own if _is_user(principal) else false())
    return and_(manageable, table.c.deleted_at.is_(None))


def _visible_consents(principal: Principal) -> ColumnElement[bool]:
    """The consents that the user gave to OAuth clients."""
    return table_of(OAuthConsentRow).c.user_id == principal.user_id if _is_user(principal) else false()


def _visible_passkeys(principal: Principal) -> ColumnElement[bool]:
    """The user's own passkeys."""
    return table_of(PasskeyRow).c.user_id == principal.user_id if _is_user(principal) else false()


def invitations_to(principal: Principal, moment: datetime | ColumnElement[datetime]) -> ColumnElement[bool]:
    """The condition on workspace members that are invitations to the user's confirmed address, still open."""
    confirmed = select(_users.c.email_folded).where(
        _users.c.id == principal.user_id, _users.c.email_verified_at.is_not(None)
    )
    is_open = and_(_members.c.user_id.is_(None), _members.c.expires_at > moment)
    return and_(is_open, _members.c.email_folded.in_(confirmed)) if _is_user(principal) else false()


def _is_user(principal: Principal) -> bool:
    return principal.workspace_id is None and principal.user_id is not None


_OWN_CONDITIONS: Mapping[type[SQLModel], Seen] = {
    CredentialRow: _visible_credentials,
    OAuthClientRow: _visible_clients,
    OAuthConsentRow: _visible_consents,
    PasskeyRow: _visible_passkeys,
}


async def get_visible(ctx: Context, model: type[Model], **values: Any) -> Model:
    """The visible row with these column values. Raises `NotFound`."""
    async with ctx.read() as connection:
        return _present(await first_of(connection, model, _select(ctx, model, values)), model)


async def get_for_update(ctx: Context, model: type[Model], **values: Any) -> Model:
    """The visible row with these column values, locked until the change ends; then compares `If-Match`.

    Raises `NotFound`, `PreconditionFailed` and what `check_owner` raises.
    """
    statement = _select(ctx, model, values)
    if ctx.owners_only:
        # A removal locks the membership before its user's rows too: one order avoids deadlocks.
        columns = values_of(_present(await first_of(ctx.connection, model, statement), model))
        await check_owner(ctx, columns["id"] if model is WorkspaceRow else columns.get("workspace_id"))
    row = _present(await first_of(ctx.connection, model, statement.with_for_update()), model)
    if ctx.precondition is not None:
        await ctx.precondition()
    return row


async def workspace_for(ctx: Context, workspace_id: UUID | None) -> UUID:
    """The workspace in which the caller creates something; by default the only one it has access to.

    Raises `NotFound` if the workspace is not visible, `Invalid` if there is no default, and what
    `check_owner` raises.
    """
    workspace_id = await _choose_workspace(ctx, workspace_id)
    await check_owner(ctx, workspace_id)
    return workspace_id


async def check_owner(ctx: Context, workspace_id: UUID | None) -> None:
    """Raises `NotPermitted` if the operation is for owners and the caller's user does not own the workspace.

    A workspace token passes: an owner granted its scopes. A row without a workspace is the user's own.
    Inside a change the membership is locked, so the user stays an owner until the change ends.
    """
    principal = ctx.principal
    if not ctx.owners_only or workspace_id is None or principal.kind is PrincipalKind.WORKSPACE_TOKEN:
        return
    user_id = principal.user_id or principal.maker_user_id
    statement = select(_members.c.role).where(
        _members.c.workspace_id == workspace_id, _members.c.user_id == user_id
    )
    async with ctx.read() as connection:
        if ctx.transaction is not None:
            statement = statement.with_for_update(read=True)
        role = (await connection.execute(statement)).scalar()
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
    wanted = set(ids)

    def make() -> Select[int]:
        table = table_of(WorkspaceRow)
        among = AnyOf(table.c.id, bindparam("ids", type_=ListOf(table.c.id.type)))
        return select(func.count()).where(visible(WorkspaceRow, with_places(ctx.principal)), among)

    plan = plan_for(ctx.services.database.dialect, ("workspaces", form_of(ctx.principal)), make)
    ((count,),) = await ctx.fetch(plan, {"ids": list(wanted), **values_of_caller(ctx.principal)})
    if count != len(wanted):
        raise NotFound("There is no such workspace.")


def _select(ctx: Context, model: type[SQLModel], values: Mapping[str, Any]) -> Select[Any]:
    table = table_of(model)
    same = [table.c[name] == value for name, value in values.items()]
    return select(table).where(visible(model, ctx.principal), *same)


def _present(row: Model | None, model: type[Model]) -> Model:
    if row is None:
        raise absent(model)
    return row


def absent(model: type[SQLModel]) -> NotFound:
    """The refusal of a row that does not exist, or that the caller may not see."""
    noun = table_of(model).name.removesuffix("s").replace("oauth", "OAuth").replace("_", " ")
    return NotFound(f"There is no such {noun}.")
