"""The conditions on the rows that a caller can see: decided only here."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    ScalarSelect,
    Select,
    Uuid,
    and_,
    exists,
    false,
    literal,
    or_,
    select,
    true,
)
from sqlmodel import SQLModel

from oauth.principals import Principal
from schema.errors import NotFound
from storage.dialects.matching import AnyOf, ListOf
from storage.enums import CredentialKind, Visibility, WorkspaceRole
from storage.ledger.books import Workspaces
from storage.rows.rows import table_of
from storage.tables.accounts.second_factors import PasskeyRow
from storage.tables.accounts.users import UserRow
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_client_documents import OAuthClientDocumentRow
from storage.tables.credentials.oauth_clients import OAuthClientRow
from storage.tables.credentials.oauth_grants import OAuthConsentRow
from storage.tables.credentials.usage import UsageRow
from storage.tables.customers.customers import CustomerRow, CustomerSessionRow, MemberRow
from storage.tables.shares.file_share_sessions import FileShareSessionRow
from storage.tables.shares.shares import ShareRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow, WorkspaceRow
from storage.totals.reading import total_of
from storage.workspaces.distribution import COLUMN

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


def owned(principal: Principal) -> Select[UUID]:
    """The same for the workspaces that the user owns; a workspace's credential has its workspace."""
    if principal.workspace_id is not None:
        return reachable(principal)
    return reachable(principal).where(_members.c.role == WorkspaceRole.OWNER.value)


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
    elif COLUMN in table.primary_key.columns or principal.about_workspace_id is not None:
        condition = _in_workspaces(owner, principal)
    else:
        condition = owner.in_(reachable(principal))
    return and_(condition, table.c.deleted_at.is_(None) if "deleted_at" in table.columns else true())


def total_visible(
    model: type[SQLModel], principal: Principal, filters: Mapping[str, Any], workspace_ids: list[UUID] | None
) -> ScalarSelect[int] | None:
    """The number of rows that the principal can see and that have these values, if this total is kept.

    `filters` are as `total_of` takes them. `workspace_ids` are the workspaces that the list is filtered by;
    None without this filter.
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
    """Makes the condition that a column holds an accessible workspace, and one of `ids` if they are given."""

    def among(column: ColumnElement[UUID]) -> ColumnElement[bool]:
        if principal.workspace_id is None:
            condition = _in_workspaces(column, principal)
        else:
            condition = column == principal.workspace_id
        if principal.customer_id is not None:
            condition &= _is_present(principal)
        return condition if ids is None else condition & column.in_(ids)

    return among


def _in_workspaces(column: ColumnElement[UUID], principal: Principal) -> ColumnElement[bool]:
    """Whether the column holds one of the user's workspaces.

    A cluster asks the nodes of these ids only; for a subquery of ids it would ask all.
    """
    if principal.about_workspace_id is not None:
        return column == principal.about_workspace_id
    ids: Any = principal.workspace_ids
    return AnyOf(column, ids if isinstance(ids, BindParameter) else literal(ids, ListOf(Uuid())))


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


def _visible_documents(principal: Principal) -> ColumnElement[bool]:
    """The documents of OAuth clients of owned workspaces, and of a user's own clients."""
    clients = table_of(OAuthClientRow)
    is_owned = or_(clients.c.workspace_id.is_(None), clients.c.workspace_id.in_(owned(principal)))
    ids = select(clients.c.id).where(_visible_clients(principal), is_owned)
    return table_of(OAuthClientDocumentRow).c.oauth_client_id.in_(ids)


def _visible_usage(principal: Principal) -> ColumnElement[bool]:
    """What was used in owned workspaces."""
    workspace_id = table_of(UsageRow).c.workspace_id
    return and_(workspaces_of(principal, None)(workspace_id), workspace_id.in_(owned(principal)))


def _visible_consents(principal: Principal) -> ColumnElement[bool]:
    """The consents that the user gave to OAuth clients."""
    return table_of(OAuthConsentRow).c.user_id == principal.user_id if _is_user(principal) else false()


def _visible_passkeys(principal: Principal) -> ColumnElement[bool]:
    """The user's own passkeys."""
    return table_of(PasskeyRow).c.user_id == principal.user_id if _is_user(principal) else false()


def invitations_to(principal: Principal, moment: datetime | ColumnElement[datetime]) -> ColumnElement[bool]:
    """The condition on workspace members that are open invitations to the user's confirmed address."""
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
    OAuthClientDocumentRow: _visible_documents,
    OAuthConsentRow: _visible_consents,
    PasskeyRow: _visible_passkeys,
    UsageRow: _visible_usage,
}


def absent(model: type[SQLModel]) -> NotFound:
    """The refusal of a row that does not exist, or that the caller may not see."""
    noun = table_of(model).name.removesuffix("s").replace("oauth", "OAuth").replace("_", " ")
    return NotFound(f"There is no such {noun}.")
