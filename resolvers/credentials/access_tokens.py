"""Access tokens of workspaces and of users: the parts that both share."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from oauth.principals import Principal, PrincipalKind
from oauth.scopes import Scope, covers
from resolvers.accounts.creators import creator_of
from resolvers.credentials.tokens import issue_token
from resolvers.operations.context import Context
from resolvers.operations.rows.lookups import get_for_update
from resolvers.operations.rows.room import check_room
from schema.errors import Invalid, Problem, problem
from storage.clock import now
from storage.enums import CredentialKind
from storage.rows.rows import table_of, update_row
from storage.tables.credentials.credentials import CredentialRow

_table = table_of(CredentialRow)
USER_KINDS = frozenset({PrincipalKind.PERSONAL_TOKEN, PrincipalKind.BROWSER_SESSION})
KINDS = USER_KINDS | {PrincipalKind.WORKSPACE_TOKEN}


async def create_token(
    ctx: Context,
    kind: CredentialKind,
    comment: str,
    scopes: Sequence[str],
    expires_in: int | None,
    *,
    workspace_id: UUID | None = None,
    user_id: UUID | None = None,
) -> tuple[str, CredentialRow]:
    """Create a token; returns its text and row. Raises `Invalid` if it exceeds the caller's credential.

    Raises `NotPermitted` if its owner has the most tokens.
    """
    lifetime = None if expires_in is None else timedelta(seconds=expires_in)
    problems = [
        *_lacking(ctx.principal, scopes, scopes_sent=True),
        *_outliving(ctx.principal, None if lifetime is None else now() + lifetime),
    ]
    if problems:
        raise Invalid(problems)
    owner = _table.c.user_id == user_id if workspace_id is None else _table.c.workspace_id == workspace_id
    of_kind = owner & (_table.c.kind == kind.value)
    remedy = "those that ended in the last 400 days count too"
    await check_room(ctx.connection, CredentialRow, of_kind, "access tokens", remedy)
    credential, row = await issue_token(
        ctx.connection,
        kind,
        {Scope(scope) for scope in scopes},
        comment=comment,
        expires_in=lifetime,
        maker_user_id=creator_of(ctx.principal),
        workspace_id=workspace_id,
        user_id=user_id,
    )
    return credential.text, row


async def update_token(
    ctx: Context, kind: CredentialKind, id: UUID, changes: dict[str, Any]
) -> tuple[CredentialRow, bool]:
    """Update a token; returns its row and whether it gained scopes or a longer life.

    Raises `Invalid` if the token gains more than the caller's credential has.
    """
    row = await get_for_update(ctx, CredentialRow, id=id, kind=kind.value)
    if "expires_in" in changes:
        seconds = changes.pop("expires_in")
        changes["expires_at"] = None if seconds is None else now() + timedelta(seconds=seconds)
    new_scopes: list[str] | None = changes.get("scopes")
    if new_scopes is not None:
        changes["scopes"] = sorted(set(new_scopes))
    is_wider = _widens(row, changes)
    if is_wider:
        problems = [
            *_lacking(ctx.principal, new_scopes or row.scopes, scopes_sent=new_scopes is not None),
            *_outliving(ctx.principal, changes.get("expires_at", row.expires_at)),
        ]
        if problems:
            raise Invalid(problems)
    return await update_row(ctx.connection, CredentialRow, row, **changes), is_wider


async def revoke_token(ctx: Context, kind: CredentialKind, id: UUID) -> None:
    """Revoke a token: the next request with it fails."""
    row = await get_for_update(ctx, CredentialRow, id=id, kind=kind.value)
    await update_row(ctx.connection, CredentialRow, row, revoked_at=now())


def _widens(row: CredentialRow, changes: dict[str, Any]) -> bool:
    """Whether the token gains a scope or a longer life."""
    former_scopes = frozenset(map(Scope, row.scopes))
    if not all(covers(former_scopes, Scope(scope)) for scope in changes.get("scopes", ())):
        return True
    before = row.expires_at
    after = changes.get("expires_at", before)
    return before is not None and (after is None or after > before)


def _lacking(principal: Principal, scopes: Sequence[str], *, scopes_sent: bool) -> Iterable[Problem]:
    for index, scope in enumerate(scopes):
        if not covers(principal.scopes, Scope(scope)):
            message = f"Your own credential does not have `{scope}`, so it cannot grant it"
            loc = ("data", "scopes", index) if scopes_sent else ("data", "expires_in")
            yield problem(loc, message, "wider", input=scope)


def _outliving(principal: Principal, expires_at: datetime | None) -> Iterable[Problem]:
    # Tokens created in a browser session are meant to outlive it.
    if principal.expires_at_stamp is None or principal.kind is PrincipalKind.BROWSER_SESSION:
        return
    end = datetime.fromtimestamp(principal.expires_at_stamp, UTC)
    if expires_at is None or expires_at > end:
        seconds = max(int((end - now()).total_seconds()), 0)
        message = f"Your own credential ends in {seconds} seconds: `expires_in` should be that or less"
        yield problem(("data", "expires_in"), message, "wider")
