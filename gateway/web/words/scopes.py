"""What scopes allow, in words for people: in lines on the consent page, by noun in forms."""

from collections.abc import Collection, Iterable, Mapping

from oauth.scopes import CLIENT_SCOPES, OPENID_SCOPES, USER_SCOPES, Scope, that_would_do
from schema.languages.speech import gettext, noted

WORDS: dict[Scope, str] = {
    Scope.OPENID: noted("Identify you when you sign in"),
    Scope.PROFILE: noted("See your name"),
    Scope.EMAIL: noted("See your email address"),
    Scope.USER_READ: noted("See your name and email address"),
    Scope.WORKSPACES_READ: noted("See workspaces, their settings and their members"),
    Scope.WORKSPACES_WRITE: noted("Create workspaces and change their settings"),
    Scope.SHARES_READ: noted("See shares with their prices and images"),
    Scope.SHARES_WRITE: noted("Create, change and archive shares"),
    Scope.CUSTOM_FIELDS_READ: noted("See custom fields"),
    Scope.CUSTOM_FIELDS_WRITE: noted("Create, change and delete custom fields"),
    Scope.CUSTOMERS_READ: noted("See customers and their members: names, email and billing addresses"),
    Scope.CUSTOMERS_WRITE: noted("Create, change and delete customers"),
    Scope.MEMBERS_READ: noted("See members of customers"),
    Scope.MEMBERS_WRITE: noted("Add, change and remove members of customers"),
    Scope.FILES_READ: noted("See and download files"),
    Scope.FILES_WRITE: noted("Upload, download and delete files"),
    Scope.EVENTS_READ: noted("See events, and the names and email addresses of their customers"),
    Scope.EVENTS_WRITE: noted(
        "Report events, and see them with the names and email addresses of their customers"
    ),
    Scope.FILE_SHARE_SESSIONS_READ: noted("See sales, downloads and payments"),
    Scope.FILE_SHARE_SESSIONS_WRITE: noted("Report sales, downloads, payments and refunds"),
    Scope.METRICS_READ: noted("See metrics: revenue, costs and activity"),
    Scope.CUSTOMER_SESSIONS_WRITE: noted("Open the customer portal for any customer"),
    Scope.WEBHOOKS_READ: noted("See webhook endpoints"),
    Scope.WEBHOOKS_WRITE: noted("Send the data it may read to webhook endpoints that it creates"),
}
# Each noun of scopes with its name and what can be read or written.
NOUNS: dict[str, tuple[str, str]] = {
    "user": ("User profile", "Name and email address"),
    "workspaces": ("Workspaces", "Settings and members; Write also creates workspaces"),
    "workspace_members": (
        "Workspace members",
        "Invitations, roles and removals; accepts invitations for you",
    ),
    "shares": ("Shares", "Prices, images and files of what you offer"),
    "custom_fields": ("Custom fields", "The questions that shares can ask"),
    "customers": ("Customers", "Names, email and billing addresses, members"),
    "members": ("Customer members", "The people in customers that are teams"),
    "files": ("Files", "Both include downloads; Write also uploads and deletes"),
    "events": ("Events", "Includes the names and email addresses of customers"),
    "file_share_sessions": ("Sales", "Sessions, downloads, payments and refunds"),
    "metrics": ("Metrics", "Revenue, costs and activity"),
    "customer_sessions": ("Portal links", "Opens the customer portal for any customer"),
    "webhooks": ("Webhooks", "Write can send everything that these scopes read to any URL"),
    "access_tokens": (
        "Access tokens",
        "Lists tokens but not their values; Write creates tokens with at most these scopes",
    ),
    "oauth_clients": ("OAuth applications", "Redirect URIs and scopes; Write also creates new secrets"),
}
SIGN_IN: dict[Scope, str] = {Scope.OPENID: "Identity", Scope.PROFILE: "Name", Scope.EMAIL: "Email address"}


def check_words(
    scopes: Iterable[Scope],
    words: Mapping[Scope, str] = WORDS,
    nouns: Mapping[str, tuple[str, str]] = NOUNS,
    sign_in: Mapping[Scope, str] = SIGN_IN,
) -> None:
    """Raises `TypeError` for the first of `scopes` that a page could not show."""
    for scope in scopes:
        noun = scope.value.partition(":")[0]
        if scope in CLIENT_SCOPES and scope not in words:
            missing = f"has no line for the consent page: add it to WORDS of {__name__}"
        elif scope in OPENID_SCOPES and scope not in sign_in:
            missing = f"has no name in forms: add it to SIGN_IN of {__name__}"
        elif scope not in OPENID_SCOPES and noun not in nouns:
            missing = f"has no name in forms: add {noun!r} to NOUNS of {__name__}"
        else:
            continue
        raise TypeError(f"The scope {scope.value} {missing}.")


check_words(scope for scope in Scope if scope in USER_SCOPES)


def in_words(scopes: Collection[str]) -> list[str]:
    """A line for each scope; read scopes that a write scope includes are left out."""
    requested = [scope for scope in WORDS if scope in scopes]
    return [gettext(WORDS[scope]) for scope in requested if not _is_implied(scope, requested)]


def _is_implied(scope: Scope, requested: Collection[Scope]) -> bool:
    return any(wider is not scope and wider in requested for wider in that_would_do(scope))
