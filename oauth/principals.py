"""Principals: authenticated callers."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from uuid import UUID

from oauth.scopes import CLIENT_SCOPES, CUSTOMER_SCOPES, USER_SCOPES, WORKSPACE_SCOPES, Scope


class PrincipalKind(StrEnum):
    """The kind of credential that authenticated the caller."""

    WORKSPACE_TOKEN = "workspace_token"  # noqa: S105
    PERSONAL_TOKEN = "personal_token"  # noqa: S105
    OAUTH_TOKEN = "oauth_token"  # noqa: S105
    BROWSER_SESSION = "browser_session"
    CUSTOMER_SESSION = "customer_session"


CORE_KINDS = frozenset(PrincipalKind) - {PrincipalKind.CUSTOMER_SESSION}

# The scopes that a credential of each kind can be granted.
WIDEST_SCOPES: dict[PrincipalKind, frozenset[Scope]] = {
    PrincipalKind.WORKSPACE_TOKEN: WORKSPACE_SCOPES,
    PrincipalKind.PERSONAL_TOKEN: USER_SCOPES,
    PrincipalKind.OAUTH_TOKEN: CLIENT_SCOPES,
    PrincipalKind.BROWSER_SESSION: USER_SCOPES,
    PrincipalKind.CUSTOMER_SESSION: CUSTOMER_SCOPES,
}


@dataclass(frozen=True)
class Principal:
    """An authenticated caller.

    `workspace_id` is set if the credential is limited to that workspace; otherwise `user_id` is, and the
    credential has access to every workspace of the user. `maker_user_id` is the user who created a
    workspace's credential. `expires_at_stamp` is the credential's expiry in seconds since 1970, or None.
    `requests_per_minute` is the workspace's own limit, if an operator set one. `authenticated_at` is when the
    user of a browser session last authenticated.
    """

    kind: PrincipalKind
    credential_id: UUID
    scopes: frozenset[Scope]
    workspace_id: UUID | None = None
    user_id: UUID | None = None
    maker_user_id: UUID | None = None
    customer_id: UUID | None = None
    member_id: UUID | None = None
    client_id: str | None = None
    expires_at_stamp: float | None = None
    requests_per_minute: int | None = None
    authenticated_at: datetime | None = None

    @cached_property
    def subject(self) -> str:
        """The owner of rate limits and idempotency keys; more tokens do not make more subjects."""
        if self.customer_id is not None:
            return f"customer:{self.customer_id}"
        return f"client:{self.client_id}:{self._owner}" if self.client_id else self._owner

    @cached_property
    def roof(self) -> str | None:
        """The subject whose rate limit covers several: a workspace's customers, or an owner's clients."""
        if self.customer_id is not None:
            return f"customers:{self.workspace_id}"
        return f"clients:{self._owner}" if self.client_id else None

    @cached_property
    def ids(self) -> dict[str, UUID]:
        """The ids that decide what the caller sees, by the names of their places in statements."""
        ids = {
            "principal_workspace_id": self.workspace_id,
            "principal_user_id": self.user_id,
            "principal_customer_id": self.customer_id,
            "principal_member_id": self.member_id,
        }
        return {name: id for name, id in ids.items() if id is not None}

    @cached_property
    def _owner(self) -> str:
        return f"workspace:{self.workspace_id}" if self.workspace_id else f"user:{self.user_id}"
