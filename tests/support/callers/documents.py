"""Random selections of a GraphQL type: aliases, fragments of both kinds, directives and type names."""

from typing import Any

from graphql import GraphQLObjectType, GraphQLUnionType, get_named_type, is_leaf_type, is_required_argument
from hypothesis import strategies as st

from resolvers.graph.survey.literals import outline_of

VARIABLES = {"yes": True, "no": False}
# Both variables are always used: a document with one that is not would be refused.
HEAD = "query ($yes: Boolean!, $no: Boolean!)"
USE = "__typename @include(if: $yes) @skip(if: $no)"
# A text in documents for which a test may put a cursor of its own.
CURSOR = "CURSOR"
# Pages of links, by what an alias says of them; the last three are refused.
PAGES = {
    "1x1": "limit: 1, page: 1",
    "2x1": "limit: 2, page: 1",
    "1x2": "limit: 1, page: 2",
    "7x1": "limit: 7, page: 1",
    "3x2": "limit: 3, page: 2",
    "First": "first: 1",
    "After": f'first: 1, after: "{CURSOR}"',
    "Later": f'after: "{CURSOR}"',
    "0x1": "limit: 0, page: 1",
    "101x0": "limit: 101, page: 0",
    "Twice": f'page: 2, first: 0, after: "{CURSOR}"',
}
DIRECTIVES = (
    *[""] * 8,
    " @include(if: $yes)",
    " @include(if: $no)",
    " @skip(if: $no)",
    " @skip(if: $yes) @include(if: true)",
    " @skip(if: false)",
)
# The root fields that give lines, with arguments: each of a world's resources, one that is absent, and lists.
NODES = ("Share", "Customer", "Event", "FileShareSession", "FileSharePayment")
ROOTS = {
    "node": ('(id: "{share}")', '(id: "{team}")', '(id: "{file_share_session}")', '(id: "{slug}")'),
    "share": ('(id: "{share}")', '(id: "{team}")'),
    "shares": (
        "",
        "(limit: 2, sorting: [NAME_DESC])",
        "(isArchived: false, visibility: [PUBLIC])",
    ),
    "customer": ('(id: "{team}")', '(externalId: "none")'),
    "customers": ("", "(page: 2, limit: 1)", '(query: "team", sorting: [EMAIL])', "(after: null)"),
    "member": ('(id: "{member}")',),
    "members": ('(customerId: ["{team}"])',),
    "event": ('(id: "{event}")',),
    "events": (
        "",
        "(limit: 101, page: null)",
        '(name: ["customer.created"])',
        '(customerId: ["{team}", "{share}"])',
    ),
    "file": ('(id: "{media}")', '(id: "{unfinished[id]}")'),
    "files": ("", '(ids: ["{media}"])', "(ids: [])"),
    "customField": ('(id: "{custom_field}")',),
    "customFields": ("", "(limit: 1)"),
    "fileShareSession": ('(id: "{file_share_session}")',),
    "fileSharePayment": ('(id: "{file_share_payment}")', '(id: "{share}")'),
    "eventNames": ("", "(sorting: [OCCURRENCES_DESC], limit: 2)", '(customerId: ["{team}"], source: SYSTEM)'),
    "workspace": ('(id: "{workspace}")', '(slug: "{slug}")', ""),
    "workspaces": ("", '(name: "acme", sorting: [DAYS_IN_STATUS_DESC])'),
    "workspaceMember": ('(id: "{workspace_member}")', '(id: "{share}")'),
    "workspaceMembers": ("", '(workspaceId: ["{workspace}"], limit: 1)'),
    "workspaceAccessToken": ('(id: "{workspace_token}")',),
    "workspaceAccessTokens": ("", '(workspaceId: ["{share}"])'),
    "oauthClient": ('(id: "{oauth_client}")',),
    "oauthClients": ("", "(sorting: [CREATED_AT_DESC])"),
    "webhookEndpoint": ('(id: "{webhook_endpoint}")',),
    "webhookEndpoints": ("", "(limit: 1)"),
    "webhookDelivery": ('(id: "{webhook_delivery}")',),
    "webhookDeliveries": ("", "(status: [SKIPPED, FAILED], limit: 1)"),
    "portal": ("",),
    "viewer": ("",),
    "metricsLimits": ("",),
    "metrics": ('(startDate: "2026-11-01", endDate: "2026-11-07", interval: DAY, groupBy: SHARE)',),
    "fileShareSessions": ("", "(status: [ACTIVE, COMPLETED])", '(shareId: "{share}")'),
}


@st.composite
def selections(draw: st.DrawFn, type_: Any, deepest: int = 4) -> tuple[str, str]:
    """A selection set of the type, and the fragments that it spreads."""
    fragments: list[str] = []
    return _selection(draw, type_, deepest, fragments), "".join(fragments)


def _selection(draw: st.DrawFn, type_: Any, depth: int, fragments: list[str]) -> str:
    entries = [_entry(draw, type_, depth, fragments) for _ in range(draw(st.integers(1, 4)))]
    return f"{{ {' '.join(entries)} }}"


def _entry(draw: st.DrawFn, type_: Any, depth: int, fragments: list[str]) -> str:
    directive = draw(st.sampled_from(DIRECTIVES))
    kind = draw(st.sampled_from(("field", "field", "field", "field", "__typename", "inline", "named")))
    if kind == "field" and isinstance(type_, GraphQLObjectType):
        return _field(draw, type_, depth, fragments, directive)
    if kind == "__typename" or depth == 0:
        return draw(st.sampled_from(("__typename", "kindOfIt: __typename"))) + directive
    narrowed = draw(st.sampled_from(type_.types)) if isinstance(type_, GraphQLUnionType) else type_
    below = _selection(draw, narrowed, depth - 1, fragments)
    if kind == "named":
        name = f"Part{len(fragments)}"
        fragments.append(f" fragment {name} on {narrowed.name} {below}")
        return f"...{name}{directive}"
    condition = "" if narrowed is type_ and draw(st.booleans()) else f" on {narrowed.name}"
    return f"...{condition}{directive} {below}"


def _field(
    draw: st.DrawFn, type_: GraphQLObjectType, depth: int, fragments: list[str], directive: str
) -> str:
    fields = {
        name: get_named_type(field.type)
        for name, field in type_.fields.items()
        if depth > 0 or is_leaf_type(get_named_type(field.type))
        if not any(map(is_required_argument, field.args.values()))
    }
    if not fields:
        return f"__typename{directive}"
    name = draw(st.sampled_from(sorted(fields)))
    # An alias says what stands behind it, so that two of one name never differ.
    written, arguments = draw(st.sampled_from((name, f"my_{name}: {name}"))), ""
    if "times" in type_.fields[name].args:
        times = draw(st.integers(0, 2))
        written, arguments = f"{name}{times}: {name}", f"(times: {times})"
    if {"limit", "page"} <= type_.fields[name].args.keys() and draw(st.booleans()):
        page = draw(st.sampled_from(sorted(PAGES)))
        written, arguments = f"{name}{page}: {name}", f"({PAGES[page]})"
    below = "" if is_leaf_type(fields[name]) else f" {_selection(draw, fields[name], depth - 1, fragments)}"
    return f"{written}{arguments}{directive}{below}"


def with_other_literals(text: str) -> str:
    """A document that differs from this one in its literals only; the same if it has none."""
    outline = outline_of(text)
    if outline is None:
        return text
    others = {"s": '"another"', "i": "7", "f": "2.5"}
    first, *parts = outline.text.split("\0")
    return first + "".join(others[part[0]] + part[1:] for part in parts)
