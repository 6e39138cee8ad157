"""The search of a workspace: shares, customers, pages and guides; static/search.js shows it on each page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.web.guide import search as guides
from gateway.web.kit import lookups
from gateway.web.kit.visits import HOME_PATH, Visit, page
from gateway.web.kit.workspaces import SECTIONS, workspace_of
from gateway.web.records.customers import CUSTOMERS
from gateway.web.records.kit.records import Records
from gateway.web.records.shares import SHARES
from schema.errors import Invalid, NotFound
from schema.workspaces.workspaces import Workspace

LONGEST_QUESTION = 100
MOST_OF_EACH = 5
MOST_SUGGESTED = 8
# Pages beside those of the sidebar.
OTHER_PAGES = (
    ("New share", "/{slug}/shares/new"),
    ("New customer", "/{slug}/customers/new"),
    ("New custom field", "/{slug}/custom-fields/new"),
    ("Members", f"{HOME_PATH}/{{slug}}/members"),
    ("Access tokens", f"{HOME_PATH}/{{slug}}/access-tokens"),
    ("OAuth applications", f"{HOME_PATH}/{{slug}}/oauth-clients"),
    ("Webhooks", f"{HOME_PATH}/{{slug}}/webhooks"),
    ("API usage", f"{HOME_PATH}/{{slug}}/usage"),
    ("All workspaces", HOME_PATH),
    ("Account", "/account"),
    ("Security", "/account/security"),
    ("GraphQL explorer", "/graphql"),
    ("REST reference", "/docs"),
    ("Guides", "/docs/guide"),
)


@dataclass(frozen=True)
class Found:
    """A page that fits; `note` tells it from others of the same name."""

    name: str
    address: str
    note: str = ""


@dataclass(frozen=True)
class Group:
    """What was found of one kind; `all` is the address of the list with the rest, if there is more."""

    heading: str
    found: Sequence[Found]
    all: str = ""


async def show_search(visit: Visit) -> Response:
    workspace = await workspace_of(visit)
    question = " ".join(visit.request.query_params.get("q", "").split())[:LONGEST_QUESTION]
    groups = [Group("Pages", _pages(workspace, question))]
    if question:
        customer = await _records(visit, workspace, CUSTOMERS, question, lambda found: found.email)
        share = await _records(visit, workspace, SHARES, question, lambda _: "")
        groups = [share, customer, *groups, Group("Guides", _guides(question))]
    return visit.render(
        "workspace_search.html",
        workspace=workspace,
        question=question,
        groups=[group for group in groups if group.found],
    )


def _pages(workspace: Workspace, question: str) -> list[Found]:
    """The pages whose names contain every word of the question; all pages if there is no question."""
    words = question.lower().split()
    pages = [*((section.name, section.path) for section in SECTIONS), *OTHER_PAGES]
    return [
        Found(name, path.replace("{slug}", workspace.slug))
        for name, path in pages
        if all(word in name.lower() for word in words)
    ]


async def _records(
    visit: Visit, workspace: Workspace, records: Records, question: str, note: Callable[[Any], str]
) -> Group:
    base = f"/{workspace.slug}/{records.path}"
    filters = {"workspace_id": [str(workspace.id)], "query": question, "limit": MOST_OF_EACH}
    try:
        listing = await visit.call(records.find, filters=filters)
    except Invalid:
        # No name has such a text.
        return Group(records.area, ())
    found = [Found(records.called(each), f"{base}/{each.id}", note(each)) for each in listing.data]
    has_more = listing.meta.total > len(found)
    return Group(records.area, found, f"{base}?{urlencode({'query': question})}" if has_more else "")


def _guides(question: str) -> list[Found]:
    sections = [result.section for result in guides.search(question)[:MOST_OF_EACH]]
    return [
        Found(section.heading or section.title, section.address, section.title if section.heading else "")
        for section in sections
    ]


async def suggest(visit: Visit) -> Response:
    """What may complete a field that names a record: `[{"value": "ada@example.com", "label": "Ada"}]`."""
    workspace = await workspace_of(visit)
    question = visit.request.query_params.get("q", "").strip()
    kinds = {lookup.many: lookup for lookup in lookups.LOOKUPS.values()}
    lookup = kinds.get(visit.request.path_params["kind"])
    if lookup is None:
        raise NotFound("There are no such suggestions.")
    try:
        found = await lookup.matching(visit, workspace, question, MOST_SUGGESTED) if question else []
    except Invalid:
        found = []
    names = [lookup.names(each) for each in found]
    return JSONResponse([{"value": own, "label": next(iter(others), own)} for own, *others in names])


def search_routes() -> list[Route]:
    return [Route("/{slug}/search", page(show_search)), Route("/{slug}/suggestions/{kind}", page(suggest))]
