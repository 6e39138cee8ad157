"""What an authorization request needs of its user before it is answered: a sign-in, a consent, or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import select

from oauth.authorization import CONSENT, LOGIN, NONE, SELECT_ACCOUNT, AuthorizationRequest
from oauth.consents import find_consents
from oauth.redirects import is_loopback
from storage.clock import now
from storage.rows import every_of, table_of
from storage.tables.workspaces import WorkspaceMemberRow, WorkspaceRow

_workspaces, _members = table_of(WorkspaceRow), table_of(WorkspaceMemberRow)


@dataclass(frozen=True)
class SignedInUser:
    """Who uses the browser. `is_fresh` says that they have just signed in for this very request."""

    id: UUID
    authenticated_at: datetime
    is_fresh: bool = False


@dataclass(frozen=True)
class NeedsSignIn:
    """Somebody has to sign in, or to sign in again."""


@dataclass(frozen=True)
class NeedsConsent:
    """The user has to decide; `workspaces` are those they can choose from, `allowed` what they did allow."""

    workspaces: Sequence[WorkspaceRow]
    allowed: frozenset[UUID]


@dataclass(frozen=True)
class AlreadyAllowed:
    """The user allowed it before: for the workspace, or for themselves."""

    workspace_id: UUID | None


async def next_step(
    asked: AuthorizationRequest, person: SignedInUser | None
) -> NeedsSignIn | NeedsConsent | AlreadyAllowed:
    """Raises `RefusedRequest` where the client wants no page and one is needed."""
    is_silent = NONE in asked.prompts
    if person is None or has_to_sign_in(asked, person):
        if is_silent or (person is not None and person.is_fresh):
            raise asked.refuse("login_required", "The user must sign in.")
        return NeedsSignIn()
    consents = await find_consents(asked.server.connection, person.id, asked.client.id)
    covered = {row.workspace_id for row in consents if asked.scopes <= set(row.scopes)}
    workspaces = [] if asked.is_of_user else await _find_workspaces(asked, person)
    choices = [None] if asked.is_of_user else [row.id for row in workspaces]
    remembered = [choice for choice in choices if choice in covered]
    # Any program on the user's machine can pretend to be a public client there (RFC 8252 8.6).
    is_known = not (asked.client.is_public and is_loopback(asked.redirect_uri))
    is_plain = not asked.prompts & {CONSENT, SELECT_ACCOUNT}
    if is_known and is_plain and len(remembered) == 1 and (is_silent or len(choices) == 1):
        return AlreadyAllowed(remembered[0])
    if is_silent:
        code = "interaction_required" if remembered and is_known else "consent_required"
        raise asked.refuse(code, "The user must decide.")
    return NeedsConsent(workspaces, frozenset(choice for choice in remembered if choice is not None))


def has_to_sign_in(asked: AuthorizationRequest, person: SignedInUser) -> bool:
    """Whether the request asks for another user, or for a sign-in later than the person's."""
    if asked.hinted_user_id is not None and asked.hinted_user_id != person.id:
        return True
    is_too_old = asked.max_age is not None and now() - person.authenticated_at > timedelta(
        seconds=asked.max_age
    )
    return (LOGIN in asked.prompts or is_too_old) and not person.is_fresh


async def _find_workspaces(asked: AuthorizationRequest, person: SignedInUser) -> list[WorkspaceRow]:
    own = (
        select(_workspaces)
        .join(_members, _members.c.workspace_id == _workspaces.c.id)
        .where(_members.c.user_id == person.id)
        .order_by(_workspaces.c.name_folded, _workspaces.c.id)
    )
    return await every_of(asked.server.connection, WorkspaceRow, own)
