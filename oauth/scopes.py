"""The scopes of credentials."""

from collections.abc import Iterable
from enum import StrEnum
from functools import cache


class Scope(StrEnum):
    """A permission as `resource:action`. A `:write` scope includes `:read`."""

    OPENID = "openid"
    PROFILE = "profile"
    EMAIL = "email"
    USER_READ = "user:read"
    WORKSPACES_READ = "workspaces:read"
    WORKSPACES_WRITE = "workspaces:write"
    WORKSPACE_MEMBERS_WRITE = "workspace_members:write"
    SHARES_READ = "shares:read"
    SHARES_WRITE = "shares:write"
    CUSTOM_FIELDS_READ = "custom_fields:read"
    CUSTOM_FIELDS_WRITE = "custom_fields:write"
    CUSTOMERS_READ = "customers:read"
    CUSTOMERS_WRITE = "customers:write"
    MEMBERS_READ = "members:read"
    MEMBERS_WRITE = "members:write"
    FILES_READ = "files:read"
    FILES_WRITE = "files:write"
    EVENTS_READ = "events:read"
    EVENTS_WRITE = "events:write"
    FILE_SHARE_SESSIONS_READ = "file_share_sessions:read"
    FILE_SHARE_SESSIONS_WRITE = "file_share_sessions:write"
    METRICS_READ = "metrics:read"
    CUSTOMER_SESSIONS_WRITE = "customer_sessions:write"
    ACCESS_TOKENS_READ = "access_tokens:read"
    ACCESS_TOKENS_WRITE = "access_tokens:write"
    OAUTH_CLIENTS_READ = "oauth_clients:read"
    OAUTH_CLIENTS_WRITE = "oauth_clients:write"
    WEBHOOKS_READ = "webhooks:read"
    WEBHOOKS_WRITE = "webhooks:write"
    CUSTOMER_PORTAL_READ = "customer_portal:read"
    CUSTOMER_PORTAL_WRITE = "customer_portal:write"

    @property
    def writes(self) -> bool:
        return self.value.endswith(":write")


CUSTOMER_SCOPES = frozenset({Scope.CUSTOMER_PORTAL_READ, Scope.CUSTOMER_PORTAL_WRITE})
OPENID_SCOPES = frozenset({Scope.OPENID, Scope.PROFILE, Scope.EMAIL})
# Only a user decides who belongs to a workspace: a credential that could invite would in effect have every
# scope.
PERSONAL_SCOPES = frozenset({Scope.USER_READ, Scope.WORKSPACE_MEMBERS_WRITE})
WORKSPACE_SCOPES = frozenset(Scope) - CUSTOMER_SCOPES - OPENID_SCOPES - PERSONAL_SCOPES
USER_SCOPES = frozenset(Scope) - CUSTOMER_SCOPES
# A client cannot request scopes that would let it create credentials or give others access.
CLIENT_SCOPES = USER_SCOPES - {
    Scope.WORKSPACE_MEMBERS_WRITE,
    Scope.ACCESS_TOKENS_READ,
    Scope.ACCESS_TOKENS_WRITE,
    Scope.OAUTH_CLIENTS_READ,
    Scope.OAUTH_CLIENTS_WRITE,
}
# Who changes what these cover changes who gets in, so each such change is a line of the audit log.
AUDITED_SCOPES = frozenset(
    {
        *(Scope.ACCESS_TOKENS_WRITE, Scope.OAUTH_CLIENTS_WRITE, Scope.CUSTOMER_SESSIONS_WRITE),
        *(Scope.WORKSPACES_WRITE, Scope.WORKSPACE_MEMBERS_WRITE),
        # What an endpoint is told leaves the workspace.
        Scope.WEBHOOKS_WRITE,
    }
)


@cache
def that_would_do(scope: Scope) -> tuple[Scope, ...]:
    """The scopes that each suffice where `scope` is needed, narrowest first."""
    if scope.value.endswith(":read"):
        wider = scope.value.removesuffix(":read") + ":write"
        if any(each.value == wider for each in Scope):
            return scope, Scope(wider)
    return (scope,)


def any_that_would_do(scopes: Iterable[Scope]) -> tuple[Scope, ...]:
    """The scopes that each suffice where any one of `scopes` is needed."""
    return tuple(sufficient for scope in scopes for sufficient in that_would_do(scope))


def covers(granted: frozenset[Scope], scope: Scope) -> bool:
    return not granted.isdisjoint(that_would_do(scope))
