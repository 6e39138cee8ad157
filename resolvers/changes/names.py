"""The names of those who made changes, as they are now: one statement for each kind of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from uuid import UUID

from sqlalchemy import Column, Uuid, bindparam, select, true

from oauth.scopes import Scope, covers
from resolvers.operations.context import Context
from storage.changes.reading import Logged
from storage.dialects.matching import among
from storage.engine.statements.kept import Kept
from storage.enums import ActorKind
from storage.tables.accounts.users import UserRow
from storage.tables.base import table_of
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_clients import OAuthClientRow
from storage.tables.customers.customers import CustomerRow

_customers = table_of(CustomerRow)


def _named(name: Column[str], *, in_workspace: bool = False) -> Kept:
    table = name.table
    home = table.c.workspace_id == bindparam("home", type_=Uuid()) if in_workspace else true()
    ids = among(table.c.id, "ids")
    return Kept(select(table.c.id, name).where(home, ids))


_NAMES: Mapping[str, Kept] = {
    ActorKind.USER: _named(table_of(UserRow).c.name),
    ActorKind.WORKSPACE_TOKEN: _named(table_of(CredentialRow).c.comment),
    ActorKind.OAUTH_CLIENT: _named(table_of(OAuthClientRow).c.name),
    ActorKind.CUSTOMER: _named(_customers.c.name, in_workspace=True),
}


async def read_names(ctx: Context, workspace_id: UUID, changes: Iterable[Logged]) -> dict[UUID, str | None]:
    """The names by id. Those of customers need the scope that reads them."""
    ids: defaultdict[str, set[UUID]] = defaultdict(set)
    for change in changes:
        if change.actor_id is not None:
            ids[change.actor_kind].add(change.actor_id)
    if not covers(ctx.principal.scopes, Scope.CUSTOMERS_READ):
        ids.pop(ActorKind.CUSTOMER, None)
    names: dict[UUID, str | None] = {}
    for kind, some in ids.items():
        kept = _NAMES[kind]
        rows = await ctx.fetch(kept, {"ids": list(some), "home": workspace_id})
        names |= {id: name or None for id, name in ctx.services.database.converted(kept, rows)}
    return names
