"""What scopes allow, in words for the consent page."""

from collections.abc import Collection

from oauth.scopes import Scope, that_would_do

WORDS: dict[Scope, str] = {
    Scope.OPENID: "Identify you when you sign in",
    Scope.PROFILE: "See your name",
    Scope.EMAIL: "See your email address",
    Scope.USER_READ: "See your name and email address",
    Scope.WORKSPACES_READ: "See workspaces, their settings and their members",
    Scope.WORKSPACES_WRITE: "Create workspaces and change their settings",
    Scope.SHARES_READ: "See shares with their prices and images",
    Scope.SHARES_WRITE: "Create, change and archive shares",
    Scope.CUSTOM_FIELDS_READ: "See custom fields",
    Scope.CUSTOM_FIELDS_WRITE: "Create, change and delete custom fields",
    Scope.CUSTOMERS_READ: "See customers and their members: names, email and billing addresses",
    Scope.CUSTOMERS_WRITE: "Create, change and delete customers",
    Scope.MEMBERS_READ: "See members of customers",
    Scope.MEMBERS_WRITE: "Add, change and remove members of customers",
    Scope.FILES_READ: "See and download files",
    Scope.FILES_WRITE: "Upload, download and delete files",
    Scope.EVENTS_READ: "See events, and the names and email addresses of their customers",
    Scope.EVENTS_WRITE: "Report events, and see them with the names and email addresses of their customers",
    Scope.FILE_SHARE_SESSIONS_READ: "See sales, downloads and payments",
    Scope.FILE_SHARE_SESSIONS_WRITE: "Report sales, downloads, payments and refunds",
    Scope.METRICS_READ: "See metrics: revenue, costs and activity",
    Scope.CUSTOMER_SESSIONS_WRITE: "Open the customer portal for any customer",
}


def in_words(scopes: Collection[str]) -> list[str]:
    """A line for each scope; read scopes that a write scope includes are left out."""
    requested = [scope for scope in WORDS if scope in scopes]
    return [WORDS[scope] for scope in requested if not _is_implied(scope, requested)]


def _is_implied(scope: Scope, requested: Collection[Scope]) -> bool:
    return any(wider is not scope and wider in requested for wider in that_would_do(scope))
