"""Which pages of docs/ the gateway serves at /docs/guide, in their order, and where their links lead."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from posixpath import normpath

FOLDER = Path(__file__).parents[3] / "docs"
GUIDE_PATH = "/docs/guide"

_COMMENT = re.compile(r"<!--.*?-->\n*", re.DOTALL)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_NAME_AS_TEXT = re.compile(r"\[[\w-]+\.md\](?=\(([^)#:\s]+))")
_LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")
# What the pages write for the addresses of the gateway that they describe.
_REST, _SITE = "http://localhost:8000/api", "http://localhost:8000"


def anchor(heading: str) -> str:
    """The id of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@dataclass(frozen=True)
class Addresses:
    """The public addresses that commands on the pages name: REST's, and that of the pages and GraphQL."""

    rest: str
    site: str

    def written_into(self, text: str) -> str:
        return text.replace(_REST, self.rest).replace(_SITE, self.site)


@dataclass(frozen=True)
class Page:
    """A page of docs/ at `file`, with a line about it. Some are not searched, so that guides are found."""

    file: str
    summary: str
    is_searched: bool = True

    @property
    def name(self) -> str:
        return PurePosixPath(self.file).stem

    @property
    def path(self) -> str:
        return f"{GUIDE_PATH}/{self.name}"

    @cached_property
    def text(self) -> str:
        """The markdown as it is on disk, without comments."""
        return _COMMENT.sub("", (FOLDER / self.file).read_text("utf-8"))

    @cached_property
    def title(self) -> str:
        heading = _TITLE.search(self.text)
        if heading is None:
            raise ValueError(f"docs/{self.file} has no title.")
        return heading[1]

    @cached_property
    def read_text(self) -> str:
        """The markdown in which a link that is named like a file has the title of its page instead."""

        def titled(link: re.Match[str]) -> str:
            page = PAGES.get(PurePosixPath(link[1]).stem)
            return f"[{page.title}]" if page and self.target(link[1]) else link[0]

        return _NAME_AS_TEXT.sub(titled, self.text)

    def target(self, link: str) -> str | None:
        """Where the gateway serves the file that the page links to; None if it does not."""
        return _SERVED.get(normpath(PurePosixPath(self.file).parent / link))

    def served_markdown(self, addresses: Addresses) -> str:
        """The markdown with links to what the gateway serves; other files are named without a link."""

        def replaced(link: re.Match[str]) -> str:
            target = self.target(link[1])
            if target is None:
                return "]"
            suffix = ".md" if PurePosixPath(target).name in PAGES else ""
            return f"]({target}{suffix}{link[2] or ''})"

        return addresses.written_into(_LINK.sub(replaced, self.read_text))


SECTIONS: Mapping[str, tuple[Page, ...]] = {
    "Begin": (
        Page("guide/concepts.md", "The eight words of the API, in one picture."),
        Page("guide/authentication.md", "Which token to use, and how to send it."),
    ),
    "How to": (
        Page(
            "guide/report-a-sale.md",
            "Create a share, and report its visits, payments, downloads and refunds.",
        ),
        Page("guide/ingest-events.md", "Send what happens in your product, with its cost, in batches."),
        Page("guide/import-customers.md", "Bring customers, their members and their past sales."),
        Page("guide/build-a-dashboard.md", "Draw metrics from one GraphQL document."),
        Page("guide/sign-people-in.md", "Let users of Duograph sign in to your application."),
        Page("portal.md", "Let your customers see and download what they bought."),
        Page("uploads.md", "Upload files in parts, resume, and sell them."),
        Page("changes.md", "Follow what happens, and keep a copy in another system."),
        Page("webhooks.md", "Receive changes as they happen, as signed requests."),
    ),
    "Rules of the API": (
        Page("guide/pagination.md", "Read lists page by page, filter and sort them."),
        Page("guide/idempotency.md", "Repeat a request without repeating its effect."),
        Page("guide/concurrency.md", "Change a resource without undoing another change."),
        Page("guide/limits-and-cost.md", "How many calls a minute, and what a request costs."),
        Page("errors.md", "What errors look like, every code, and what to do."),
        Page("versions.md", "What can change, and how the end of something is announced."),
        Page("changelog.md", "What changed for users in each version; also as a feed.", is_searched=False),
    ),
    "Reference": (
        Page("metrics.md", "Every metric, worked examples, groups and comparisons."),
        Page("graphql.md", "Requests, answers, errors and cost of GraphQL."),
        Page("oauth.md", "OAuth 2.0 and OpenID Connect, step by step."),
        Page("clients.md", "Generate a typed client from the contracts."),
        Page("change-kinds.md", "Every kind of change in the change log, and what may cause it."),
        Page("operations.md", "Each REST path with its GraphQL field and scope."),
        Page("scopes.md", "Every scope, and the credentials that can have it."),
        Page("permissions.md", "What each kind of credential may do."),
    ),
    "Workspace and operation": (
        Page("dashboard.md", "The dashboard of a workspace, and its address."),
        Page("workspace-pages.md", "Shares, customers, payments and events on pages."),
        Page("members.md", "Roles, invitations, and removing a member."),
        Page("sign-in.md", "Accounts, second factors and forgotten passwords."),
        Page("usage.md", "Which clients use what, before you change it."),
        Page("leaks.md", "How leaked credentials are recognized and revoked."),
        Page("settings.md", "Every setting of the gateway."),
        Page("retention.md", "How long records are kept after they end."),
        Page("postgresql.md", "Connections, poolers and time limits of PostgreSQL."),
        Page("cluster.md", "Spread workspaces over several database servers."),
        Page("monitoring.md", "Metrics for Prometheus, traces, slow statements, and alerts."),
        Page("deploy.md", "From a laptop to a cluster: containers, systemd, Kubernetes, upgrades."),
        Page("moving.md", "Move everything from SQLite to PostgreSQL."),
        Page("backup.md", "Copy databases and files, and put them back."),
    ),
}
# Other files that the pages link to or show, by their media type.
FILES: Mapping[str, str] = {
    "guide/concepts.svg": "image/svg+xml",
    "examples/dashboard.html": "text/plain; charset=utf-8",
    "examples/dashboard.py": "text/plain; charset=utf-8",
    "monitoring/alerts.yml": "text/plain; charset=utf-8",
    "monitoring/dashboard.json": "application/json",
    "upload.py": "text/plain; charset=utf-8",
    "upload.sh": "text/plain; charset=utf-8",
}
PAGES: Mapping[str, Page] = {page.name: page for pages in SECTIONS.values() for page in pages}
_SERVED = {page.file: page.path for page in PAGES.values()} | {
    file: f"{GUIDE_PATH}/{PurePosixPath(file).name}" for file in FILES
}


def neighbours(page: Page) -> tuple[Page | None, Page | None]:
    """The pages before and after it."""
    pages = list(PAGES.values())
    place = pages.index(page)
    return (pages[place - 1] if place else None), (pages[place + 1] if place + 1 < len(pages) else None)


def llms_text(addresses: Addresses) -> str:
    """The index of all pages for language models, in the form of llmstxt.org."""
    lines = [
        "# Duograph\n",
        "> An API for workspaces that publish shares, keep customers and measure sales and downloads.",
        "> GraphQL and REST do the same, with the same input, scopes and errors.\n",
        f"REST is at {addresses.rest} ({addresses.site}/openapi.json), GraphQL at {addresses.site}/graphql",
        f"({addresses.site}/schema.graphql). Both take `Authorization: Bearer TOKEN`.",
    ]
    for section, pages in SECTIONS.items():
        lines.append(f"\n## {section}\n")
        lines += [f"- [{page.title}]({addresses.site}{page.path}.md): {page.summary}" for page in pages]
    return "\n".join(lines) + "\n"
