"""Which rows a caller can see, and in which workspace they can make one: written here and nowhere else."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, exists, false, or_, select, true
from sqlmodel import SQLModel

from oauth.principals import Principal, PrincipalKind
from resolvers.operations.context import Context
from schema.errors import Invalid, NotFound, NotPermitted, problem
from storage.clock import now
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

_members, _users = table_of(WorkspaceMemberRow), table_of(UserRow)
# The column that says whose a row is, for a customer: everything else of the workspace is not there.
_CUSTOMER_COLUMNS: dict[type[SQLModel], str] = {
    CustomerRow: "id",
    MemberRow: "customer_id",
    CustomerSessionRow: "customer_id",
    FileShareSessionRow: "customer_id",
}
_OF_USERS = (CredentialKind.PERSONAL_TOKEN.value, CredentialKind.BROWSER_SESSION.value)


def reachable(principal: Principal) -> Select[UUID]:
    """The workspaces that the principal reaches, as a subquery of ids."""
    if principal.workspace_id is not None:
        workspaces = table_of(WorkspaceRow)
        return select(workspaces.c.id).where(workspaces.c.id == principal.workspace_id)
    return select(_members.c.workspace_id).where(_members.c.user_id == principal.user_id)


def visible(model: type[SQLModel], principal: Principal) -> ColumnElement[bool]:
    """The condition on `model`'s rows that the principal may know of; deleted rows are nobody's."""
    if model in _OWN_CONDITIONS:
        return false() if principal.customer_id else _OWN_CONDITIONS[model](principal)
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


def _visible_to_customer(model: type[SQLModel], principal: Principal) -> ColumnElement[bool]:
    """Of the workspace's rows: the customer's own, and what the workspace shows to everyone."""
    table = table_of(model)
    if model is WorkspaceRow:
        return true()
    if model is ShareRow:
        return and_(table.c.visibility == Visibility.PUBLIC.value, table.c.is_archived.is_(False))
    if model in _CUSTOMER_COLUMNS:
        return table.c[_CUSTOMER_COLUMNS[model]] == principal.customer_id
    return false()


def _is_present(principal: Principal) -> ColumnElement[bool]:
    """Whether the customer, and the member whose session it is, have not been deleted meanwhile."""

    def is_there(model: type[SQLModel], id: UUID | None) -> ColumnElement[bool]:
        # Under a name of its own: the row that is asked for may be of the same table.
        table = table_of(model).alias()
        mine = and_(table.c.workspace_id == principal.workspace_id, table.c.id == id)
        return exists(select(table.c.id).where(mine, table.c.deleted_at.is_(None)))

    customer = is_there(CustomerRow, principal.customer_id)
    if principal.member_id is None:
        return customer
    return and_(customer, is_there(MemberRow, principal.member_id))


def _visible_credentials(principal: Principal) -> ColumnElement[bool]:
    """The access tokens of the workspaces in reach, a user's own and sessions; a revoked one is nobody's."""
    table = table_of(CredentialRow)
    of_workspace = and_(
        table.c.kind == CredentialKind.WORKSPACE_TOKEN.value, table.c.workspace_id.in_(reachable(principal))
    )
    own = and_(table.c.kind.in_(_OF_USERS), table.c.user_id == principal.user_id)
    return and_(or_(of_workspace, own if _is_user(principal) else false()), table.c.revoked_at.is_(None))


def _visible_clients(principal: Principal) -> ColumnElement[bool]:
    """The OAuth clients of the workspaces in reach and a user's own."""
    table = table_of(OAuthClientRow)
    own = and_(table.c.workspace_id.is_(None), table.c.user_id == principal.user_id)
    looked_after = or_(
        table.c.workspace_id.in_(reachable(principal)), own if _is_user(principal) else false()
    )
    return and_(looked_after, table.c.deleted_at.is_(None))


def _visible_consents(principal: Principal) -> ColumnElement[bool]:
    """What the user allowed OAuth clients."""
    return table_of(OAuthConsentRow).c.user_id == principal.user_id if _is_user(principal) else false()


def _visible_passkeys(principal: Principal) -> ColumnElement[bool]:
    """The user's own."""
    return table_of(PasskeyRow).c.user_id == principal.user_id if _is_user(principal) else false()


def invitations_to(principal: Principal) -> ColumnElement[bool]:
    """The condition on rows of workspace members: open invitations to the user's confirmed address."""
    confirmed = select(_users.c.email_folded).where(
        _users.c.id == principal.user_id, _users.c.email_verified_at.is_not(None)
    )
    is_open = and_(_members.c.user_id.is_(None), _members.c.expires_at > now())
    return and_(is_open, _members.c.email_folded.in_(confirmed)) if _is_user(principal) else false()


def _is_user(principal: Principal) -> bool:
    return principal.workspace_id is None and principal.user_id is not None


_OWN_CONDITIONS: Mapping[type[SQLModel], Callable[[Principal], ColumnElement[bool]]] = {
    CredentialRow: _visible_credentials,
    OAuthClientRow: _visible_clients,
    OAuthConsentRow: _visible_consents,
    PasskeyRow: _visible_passkeys,
}


async def get_visible(ctx: Context, model: type[Model], **values: Any) -> Model:
    """The visible row whose columns have these values. Raises `NotFound`."""
    async with ctx.read() as connection:
        return _present(await first_of(connection, model, _select(ctx, model, values)), model)


async def get_for_update(ctx: Context, model: type[Model], **values: Any) -> Model:
    """The same inside a change, locked until its end; compares `If-Match` once the lock is held.

    Raises `NotFound`, `PreconditionFailed` and what `check_owner` raises.
    """
    statement = _select(ctx, model, values)
    if ctx.owners_only:
        # A removal locks the membership before what its user created: in one order nobody waits in a circle.
        seen = values_of(_present(await first_of(ctx.connection, model, statement), model))
        await check_owner(ctx, seen["id"] if model is WorkspaceRow else seen.get("workspace_id"))
    row = _present(await first_of(ctx.connection, model, statement.with_for_update()), model)
    if ctx.precondition is not None:
        await ctx.precondition()
    return row


async def workspace_for(ctx: Context, workspace_id: UUID | None) -> UUID:
    """The workspace in which the caller makes something.

    It may be left out where the credential reaches just one. Raises `NotFound` for one that is not
    visible, `Invalid` where it has to be named, and what `check_owner` raises.
    """
    chosen = await _choose_workspace(ctx, workspace_id)
    await check_owner(ctx, chosen)
    return chosen


async def check_owner(ctx: Context, workspace_id: UUID | None) -> None:
    """Raises `NotPermitted` where the operation is for owners and the caller's user is none of the workspace.

    A workspace token passes: an owner gave it its scopes. What belongs to no workspace is the user's own.
    Within a change the user stays an owner until the change ends.
    """
    principal = ctx.principal
    if not ctx.owners_only or workspace_id is None or principal.kind is PrincipalKind.WORKSPACE_TOKEN:
        return
    user_id = principal.user_id or principal.maker_user_id
    role = select(_members.c.role).where(
        _members.c.workspace_id == workspace_id, _members.c.user_id == user_id
    )
    async with ctx.read() as connection:
        found = await connection.execute(role if ctx.transaction is None else role.with_for_update(read=True))
    if found.scalar() != WorkspaceRole.OWNER:
        raise NotPermitted("Only an owner of the workspace can do this. Ask one of them.")


async def _choose_workspace(ctx: Context, workspace_id: UUID | None) -> UUID:
    if workspace_id is not None:
        await get_visible(ctx, WorkspaceRow, id=workspace_id)
        return workspace_id
    if ctx.principal.workspace_id is not None:
        return ctx.principal.workspace_id
    async with ctx.read() as connection:
        found = await connection.execute(reachable(ctx.principal).limit(2))
        reached: list[UUID] = list(found.scalars())
    if len(reached) == 1:
        return reached[0]
    message = "Send `workspace_id`: this credential has access to several workspaces, or to none"
    raise Invalid([problem(("data", "workspace_id"), message, "missing")])


async def check_workspaces(ctx: Context, ids: list[UUID] | None) -> None:
    """Raises `NotFound` if a workspace that a list is filtered by is not visible."""
    if not ids:
        return
    table = table_of(WorkspaceRow)
    condition = and_(visible(WorkspaceRow, ctx.principal), table.c.id.in_(ids))
    async with ctx.read() as connection:
        found = set((await connection.execute(select(table.c.id).where(condition))).scalars())
    if set(ids) - found:
        raise NotFound("There is no such workspace.")


def _select(ctx: Context, model: type[SQLModel], values: Mapping[str, Any]) -> Select[Any]:
    table = table_of(model)
    same = [table.c[name] == value for name, value in values.items()]
    return select(table).where(visible(model, ctx.principal), *same)


def _present(row: Model | None, model: type[Model]) -> Model:
    if row is None:
        noun = table_of(model).name.removesuffix("s").replace("oauth", "OAuth").replace("_", " ")
        raise NotFound(f"There is no such {noun}.")
    return row
