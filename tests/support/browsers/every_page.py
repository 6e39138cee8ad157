"""Every page of the gateway with who opens it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from gateway.app import create_app
from gateway.settings.settings import Settings
from gateway.web.guide.contents import PAGES as GUIDE_PAGES
from tests.support.servers.gateways import SECRET

# What else answers GET: the API, machine-readable documents, files, and redirects to other pages.
NOT_PAGES = re.compile(
    r"/(api/.*|\.well-known/.*|media/.*|objects|health|ready|graphql/|openapi\.json|schema\.graphql|llms\.txt)"
    r"|/dashboard|/\{slug\}/[a-z-]+/csv|/\{slug\}/files/\{id\}/download|/\{slug\}/dashboard/metric/\{metric\}/csv"
    r"|/\{slug\}/amounts|/\{slug\}/suggestions/\{kind\}"
)


class Visitor(StrEnum):
    """Who opens a page."""

    ANYONE = "anyone"
    NEWCOMER = "a user without a workspace"
    MEMBER = "member"
    CUSTOMER = "customer"


@dataclass(frozen=True)
class Page:
    """A page by its route's template, in which `id` names a text of the site, as `{...}` in `query` does.

    Its content is there when there is something that the selector `ready` fits.
    """

    template: str
    id: str = ""
    query: str = ""
    visitor: Visitor = Visitor.MEMBER
    ready: str = "h1"

    def path(self, texts: dict[str, str]) -> str:
        path = self.template.replace("{slug}", texts["slug"])
        path = re.sub(r"\{[^}]+\}", lambda _: texts[self.id], path)
        return f"{path}?{self.query.format_map(texts)}" if self.query else path


def templates() -> set[str]:
    """The templates of all routes that answer GET with a page."""
    app = create_app(Settings(secret_key=SECRET))
    routes = {route.path for route in app.routes if "GET" in (getattr(route, "methods", None) or ())}
    return {path for path in routes if not NOT_PAGES.fullmatch(path)}


ANYONE, NEWCOMER, CUSTOMER = Visitor.ANYONE, Visitor.NEWCOMER, Visitor.CUSTOMER

ENTRANCE = [
    Page("/", visitor=ANYONE),
    Page("/sign-in", visitor=ANYONE),
    Page("/sign-up", visitor=ANYONE),
    Page("/sign-up/account", query="token={sign_up}", visitor=ANYONE),
    Page("/sign-in/second-step", visitor=ANYONE),
    Page("/forgotten-password", visitor=ANYONE),
    Page("/new-password", query="token={new_password}", visitor=ANYONE),
    Page("/confirm-address", query="token={confirmation}", visitor=ANYONE),
    Page("/confirm-new-address", query="token={new_address}", visitor=ANYONE),
    Page("/confirm-password"),
    Page("/oauth2/authorize", query="{authorization}"),
]
ACCOUNT = [
    Page("/workspaces"),
    Page("/account"),
    Page("/account/authorized-applications"),
    Page("/account/browser-sessions"),
    Page("/account/invitations"),
    Page("/account/personal-access-tokens"),
    Page("/account/security"),
    Page("/workspaces", visitor=NEWCOMER),
    Page("/account/invitations", visitor=NEWCOMER),
    Page("/account/security", visitor=NEWCOMER),
    Page("/account/security/authenticator-app", visitor=NEWCOMER),
    Page("/workspaces/{slug}"),
    Page("/workspaces/{slug}/access-tokens"),
    Page("/workspaces/{slug}/members"),
    Page("/workspaces/{slug}/members/{id}/remove", "workspace_member"),
    Page("/workspaces/{slug}/oauth-clients"),
    Page("/workspaces/{slug}/oauth-clients/{id}", "oauth_client"),
    Page("/workspaces/{slug}/webhooks"),
    Page("/workspaces/{slug}/webhooks/{id}", "told_endpoint"),
    Page("/workspaces/{slug}/webhook-deliveries/{id}", "webhook_delivery"),
    Page("/workspaces/{slug}/usage"),
]
DASHBOARD = [
    Page("/{slug}/dashboard"),
    Page("/{slug}/dashboard", query="{activity}"),
    Page("/{slug}/dashboard/top/{by}", "by", query="{activity}"),
    Page("/{slug}/dashboard/metric/{metric}", "metric", query="{activity}"),
    Page("/{slug}/dashboard/arrange"),
]
TOOLS = [
    Page("/docs", visitor=ANYONE, ready="#reference h1"),
    Page("/graphql", ready=".graphiql-query-editor .view-lines"),
]
GUIDES = [
    Page("/docs/guide", visitor=ANYONE),
    Page("/docs/guide", query="q=token", visitor=ANYONE),
    Page("/docs/guide", query="q=nothing+has+this", visitor=ANYONE),
    *(Page("/docs/guide/{name}", f"guide_{name}", visitor=ANYONE) for name in GUIDE_PAGES),
]
RECORDS = [
    Page("/{slug}/search"),
    Page("/{slug}/search", query="q=report"),
    Page("/{slug}/shares"),
    Page("/{slug}/shares", query="query=nothing"),
    Page("/{slug}/shares/new"),
    Page("/{slug}/shares/{id}", "share"),
    Page("/{slug}/shares/{id}/edit", "share"),
    Page("/{slug}/customers"),
    Page("/{slug}/customers/new"),
    Page("/{slug}/customers/{id}", "team"),
    Page("/{slug}/customers/{id}/edit", "team"),
    Page("/{slug}/customers/{id}/portal-link", "team"),
    Page("/{slug}/customer-members/new", query="customer_id={team}"),
    Page("/{slug}/customer-members/{id}", "member"),
    Page("/{slug}/customer-members/{id}/edit", "member"),
    Page("/{slug}/sessions"),
    Page("/{slug}/sessions/{id}", "file_share_session"),
    Page("/{slug}/sessions/{id}/download", "file_share_session"),
    Page("/{slug}/sessions/{id}/payment", "file_share_session"),
    Page("/{slug}/downloads/{id}", "file_share_download"),
    Page("/{slug}/payments"),
    Page("/{slug}/payments/{id}", "file_share_payment"),
    Page("/{slug}/payments/{id}/refund", "file_share_payment"),
    Page("/{slug}/refunds/{id}", "file_share_refund"),
    Page("/{slug}/events"),
    Page("/{slug}/events/{id}", "event"),
    Page("/{slug}/files"),
    Page("/{slug}/files/{id}", "download"),
    Page("/{slug}/custom-fields"),
    Page("/{slug}/custom-fields/new"),
    Page("/{slug}/custom-fields/{id}", "custom_field"),
    Page("/{slug}/custom-fields/{id}/edit", "custom_field"),
]
PORTAL = [
    Page("/{slug}/portal", visitor=ANYONE),
    Page("/{slug}/portal", query="customer_session_token={customer_token}", visitor=ANYONE),
    Page("/{slug}/portal/code", visitor=ANYONE),
    Page("/{slug}/portal/enter", visitor=ANYONE),
    Page("/{slug}/portal/continue", visitor=ANYONE),
    Page("/{slug}/portal", visitor=CUSTOMER),
    Page("/{slug}/portal/purchases/{id:uuid}", "file_share_session", visitor=CUSTOMER),
    Page("/{slug}/portal/shares", visitor=CUSTOMER),
    Page("/{slug}/portal/shares/{id:uuid}", "share", visitor=CUSTOMER),
    Page("/{slug}/portal/profile", visitor=CUSTOMER),
    Page("/{slug}/portal/members", visitor=CUSTOMER),
    Page("/{slug}/portal/members/{id:uuid}", "member", visitor=CUSTOMER),
]
PAGES: dict[str, list[Page]] = {
    "entrance": ENTRANCE,
    "account and settings": ACCOUNT,
    "dashboard": DASHBOARD,
    "explorer and reference": TOOLS,
    "guides": GUIDES,
    "records": RECORDS,
    "portal": PORTAL,
}
