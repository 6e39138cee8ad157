"""The next step of an authorization request: a sign-in, a consent, or the answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import select

from oauth.provider.authorization import CONSENT, LOGIN, NONE, SELECT_ACCOUNT, AuthorizationRequest
from oauth.provider.consents import find_consents
from oauth.provider.redirects import is_loopback
from storage.clock import now
from storage.rows.rows import every_of, table_of
from storage.tables.workspaces.workspaces import WorkspaceMemberRow, WorkspaceRow

_workspaces, _members = table_of(WorkspaceRow), table_of(WorkspaceMemberRow)


@dataclass(frozen=True)
class SignedInUser:
    """The browser's user. `is_fresh` marks a user who has just signed in for this request."""

    id: UUID
    authenticated_at: datetime
    is_fresh: bool = False


@dataclass(frozen=True)
class NeedsSignIn:
    """The user must sign in, perhaps again."""


@dataclass(frozen=True)
class NeedsConsent:
    """The user must decide: `workspaces` are the choices, `allowed` those allowed before."""

    workspaces: Sequence[WorkspaceRow]
    allowed: frozenset[UUID]


@dataclass(frozen=True)
class AlreadyAllowed:
    """The user has allowed the request before, for the workspace or for themselves."""

    workspace_id: UUID | None


async def next_step(
    request: AuthorizationRequest, user: SignedInUser | None
) -> NeedsSignIn | NeedsConsent | AlreadyAllowed:
    """Raises `RefusedRequest` if a page is needed and the client forbids one."""
    is_silent = NONE in request.prompts
    if user is None or must_sign_in(request, user):
        if is_silent or (user is not None and user.is_fresh):
            raise request.refuse("login_required", "The user must sign in.")
        return NeedsSignIn()
    consents = await find_consents(request.server.connection, user.id, request.client.id)
    covered = {row.workspace_id for row in consents if request.scopes <= set(row.scopes)}
    workspaces = [] if request.is_of_user else await _find_workspaces(request, user)
    choices = [None] if request.is_of_user else [row.id for row in workspaces]
    remembered = [choice for choice in choices if choice in covered]
    # On loopback, any program of the user's machine can impersonate a public client (RFC 8252 8.6).
    is_authentic = not (request.client.is_public and is_loopback(request.redirect_uri))
    may_skip_page = not request.prompts & {CONSENT, SELECT_ACCOUNT}
    if is_authentic and may_skip_page and len(remembered) == 1 and (is_silent or len(choices) == 1):
        return AlreadyAllowed(remembered[0])
    if is_silent:
        code = "interaction_required" if remembered and is_authentic else "consent_required"
        raise request.refuse(code, "The user must decide.")
    return NeedsConsent(workspaces, frozenset(choice for choice in remembered if choice is not None))


def must_sign_in(request: AuthorizationRequest, user: SignedInUser) -> bool:
    """Whether the request requires another user, or a more recent sign-in."""
    if request.hinted_user_id is not None and request.hinted_user_id != user.id:
        return True
    is_too_old = request.max_age is not None and now() - user.authenticated_at > timedelta(
        seconds=request.max_age
    )
    return (LOGIN in request.prompts or is_too_old) and not user.is_fresh


async def _find_workspaces(request: AuthorizationRequest, user: SignedInUser) -> list[WorkspaceRow]:
    own = (
        select(_workspaces)
        .join(_members, _members.c.workspace_id == _workspaces.c.id)
        .where(_members.c.user_id == user.id)
        .order_by(_workspaces.c.name_folded, _workspaces.c.id)
    )
    return await every_of(request.server.connection, WorkspaceRow, own)
