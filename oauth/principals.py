"""Principals: authenticated callers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any
from uuid import UUID

from oauth.scopes import CLIENT_SCOPES, CUSTOMER_SCOPES, USER_SCOPES, WORKSPACE_SCOPES, Scope
from storage.enums import ClientKind, DocumentMode
from storage.usage.usage import Client


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
class AllowList:
    """The registered GraphQL documents of an OAuth client, and what happens to others: `mode` is not `off`.

    The `version` changes with the documents.
    """

    oauth_client_id: UUID
    mode: DocumentMode
    version: int


@dataclass(frozen=True)
class Principal:
    """An authenticated caller.

    `workspace_id` is set if the credential is limited to that workspace; otherwise `user_id` is, and the
    credential has access to every workspace of the user: `workspace_ids`, as the request began, so that each
    statement names them. `maker_user_id` is the user who created a
    workspace's credential. `expires_at_stamp` is the credential's expiry in seconds since 1970, or None.
    `requests_per_minute` is the workspace's own limit, if an operator set one. `authenticated_at` is when the
    user of a browser session last authenticated. `allow_list` is that of the credential's OAuth client.
    `about_workspace_id` is one of `workspace_ids` in a statement that is about no other.
    """

    kind: PrincipalKind
    credential_id: UUID
    scopes: frozenset[Scope]
    workspace_id: UUID | None = None
    user_id: UUID | None = None
    workspace_ids: tuple[UUID, ...] = ()
    maker_user_id: UUID | None = None
    customer_id: UUID | None = None
    member_id: UUID | None = None
    client_id: str | None = None
    expires_at_stamp: float | None = None
    requests_per_minute: int | None = None
    authenticated_at: datetime | None = None
    oauth_client_id: UUID | None = None
    allow_list: AllowList | None = None
    about_workspace_id: UUID | None = None

    @property
    def one_workspace_id(self) -> UUID | None:
        """The workspace that statements are about, if it is one."""
        return self.workspace_id if self.about_workspace_id is None else self.about_workspace_id

    @property
    def all_workspace_ids(self) -> tuple[UUID, ...]:
        """Every workspace of which the caller may see anything."""
        return self.workspace_ids if self.workspace_id is None else (self.workspace_id,)

    @cached_property
    def client(self) -> str | None:
        """The key of the client that usage is counted for; None for a user's own credential.

        It has access to every workspace of the user, and none may learn what the user does in others.
        """
        if self.workspace_id is None:
            return None
        kind, id = ClientKind.WORKSPACE_TOKEN, self.credential_id
        if self.customer_id is not None:
            kind, id = ClientKind.CUSTOMER_SESSIONS, self.workspace_id
        elif self.kind is PrincipalKind.OAUTH_TOKEN:
            if self.oauth_client_id is None:
                return None
            kind, id = ClientKind.OAUTH_CLIENT, self.oauth_client_id
        return Client(self.workspace_id, kind, id).key

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
    def pool_key(self) -> str:
        """The workspace or user whose requests share connections to the database: all customers of a
        workspace together, and all clients of an owner.
        """
        return self._owner if self.roof is None or self.client_id else self.roof

    @cached_property
    def ids(self) -> dict[str, UUID | tuple[UUID, ...]]:
        """The ids that decide what the caller sees, by the names of their places in statements."""
        several = self.workspace_id is None and self.about_workspace_id is None
        ids: dict[str, UUID | tuple[UUID, ...] | None] = {
            "principal_workspace_id": self.workspace_id,
            "principal_user_id": self.user_id,
            "principal_workspace_ids": self.workspace_ids if several else None,
            "principal_about_workspace_id": self.about_workspace_id,
            "principal_customer_id": self.customer_id,
            "principal_member_id": self.member_id,
        }
        return {name: id for name, id in ids.items() if id is not None}

    def about(self, workspace_id: UUID) -> "Principal":
        """The user for statements about this one of the `workspace_ids` only. Raises `ValueError`."""
        if workspace_id not in self.workspace_ids:
            raise ValueError("The user has no access to this workspace.")
        return replace(self, about_workspace_id=workspace_id)

    def after_joining(self, workspace_id: UUID) -> "Principal":
        """The principal of a user who has become a member of the workspace."""
        return replace(self, workspace_ids=(*self.workspace_ids, workspace_id))

    def after_leaving(self, workspace_id: UUID) -> "Principal":
        """The principal of a user who is no longer a member of the workspace."""
        return replace(self, workspace_ids=tuple(id for id in self.workspace_ids if id != workspace_id))

    @cached_property
    def _owner(self) -> str:
        return f"workspace:{self.workspace_id}" if self.workspace_id else f"user:{self.user_id}"


def workspace_of(values: Mapping[str, Any]) -> UUID | None:
    """The one workspace that a statement with the `ids` of a principal among its values is about."""
    return values.get("principal_about_workspace_id") or values.get("principal_workspace_id")
