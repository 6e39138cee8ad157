"""`expand` in REST: the links of GraphQL, with the same objects, scopes and costs."""

from typing import Any

import pytest
import pytest_asyncio
from strawberry.utils.str_converters import to_camel_case

from oauth.scopes import WORKSPACE_SCOPES, Scope
from resolvers.expansion import LIMIT, is_list, read_expansion, scope_of
from resolvers.graph.root import NODES
from resolvers.links import LINKS
from schema.errors import Invalid
from schema.file_shares.sessions import FileShareSession
from schema.shares.shares import Share
from tests.support.callers.examples import EXAMPLES
from tests.support.callers.surfaces import from_graphql, selection
from tests.support.callers.world import world_of
from tests.support.servers.gateways import bearer, make_tenant, make_token
from tests.support.statements.statements import noted

pytestmark = pytest.mark.both_databases

OPERATIONS = {operation.answer: operation.name for operation in NODES.values() if operation.answer in LINKS}
CASES = [(model, name) for model in OPERATIONS for name in LINKS[model]]
PATHS = {
    "get_share": "shares",
    "get_customer": "customers",
    "get_event": "events",
    "get_file_share_session": "file-share-sessions",
    "get_file_share_download": "file-share-downloads",
    "get_file_share_payment": "file-share-payments",
    "get_file_share_refund": "file-share-refunds",
}
SESSIONS = "/api/file-share-sessions/"


def without_members(value: Any) -> Any:
    """The value without the members of customers: REST has them only where a customer is read by itself."""
    if isinstance(value, list):
        return [without_members(item) for item in value]
    if isinstance(value, dict):
        return {name: without_members(item) for name, item in value.items() if name != "members"}
    return value


@pytest_asyncio.fixture(scope="module")
async def world(gateway: Any) -> Any:
    """A tenant with one of each resource."""
    tenant = await make_tenant(gateway)
    return tenant, await world_of(gateway, tenant)


@pytest.fixture
def read(gateway: Any, world: Any) -> Any:
    """The answer to a GET with the tenant's token, or with another."""
    tenant, _ = world

    async def read(path: str, token: str = tenant.token, **query: Any) -> Any:
        return await gateway.client.get(path, params=query, headers=bearer(token))

    return read


@pytest.fixture
def linked(gateway: Any, world: Any) -> Any:
    """What GraphQL has behind a link of the resource with this id."""
    tenant, _ = world
    types = gateway.app.state.schema._schema.type_map

    async def linked(model: type, id: str, name: str) -> Any:
        field = to_camel_case(name)
        type_ = types[model.__name__].fields[field].type
        selected = f"... on {model.__name__} {{ {field} {selection(type_)} }}"
        document = f'{{ node(id: "{id}") {{ {selected} }} }}'
        answer = await gateway.client.post("/graphql", json={"query": document}, headers=bearer(tenant.token))
        body = answer.json()
        assert "errors" not in body, body
        return without_members(from_graphql(type_, body["data"]["node"][field]))

    return linked


def test_every_resource_with_links_is_tried() -> None:
    assert {PATHS[name] for name in OPERATIONS.values()} == set(PATHS.values())
    assert LINKS.keys() <= OPERATIONS.keys()


@pytest.mark.parametrize(("model", "name"), CASES, ids=lambda value: getattr(value, "__name__", value))
async def test_an_expanded_link_is_what_graphql_has_behind_it(
    read: Any, linked: Any, world: Any, model: type, name: str
) -> None:
    _, made = world
    path = f"/api/{PATHS[OPERATIONS[model]]}/"
    id = str(EXAMPLES[OPERATIONS[model]](made)["id"])
    one = await read(f"{path}{id}", expand=name)
    assert one.status_code == 200, one.text
    plain = (await read(f"{path}{id}")).json()
    expanded = one.json()
    assert {key: value for key, value in expanded.items() if key != name} == plain
    assert expanded[name] == await linked(model, id, name)
    assert "etag" not in one.headers
    listed = (await read(path, expand=name, limit=100)).json()["data"]
    (same,) = [item for item in listed if item["id"] == id]
    assert same[name] == expanded[name]


async def test_links_of_links_are_read_by_the_same_statement(gateway: Any, read: Any, world: Any) -> None:
    tenant, made = world
    # A new token: the use of one that is older than a minute may be noted in any request.
    token = await make_token(gateway, tenant, *WORKSPACE_SCOPES)
    path, query = (
        f"{SESSIONS}{made.file_share_session}",
        "share.workspace,customer,payments.customer.workspace",
    )
    for _ in range(2):  # The use of a token is noted, and read with the next one.
        await read(path, token, expand=query)
    with noted(gateway.database) as plain:
        await read(path, token)
    with noted(gateway.database) as expanded:
        answer = await read(path, token, expand=query)
    assert len(expanded) == len(plain)
    session = answer.json()
    assert session["share"]["workspace"]["id"] == made.workspace
    assert session["customer"]["id"] == made.team
    (payment,) = session["payments"]["data"]
    assert payment["customer"]["workspace"]["slug"] == made.slug
    assert session["payments"]["meta"]["total"] == 1


async def test_the_first_page_of_a_list_leads_to_the_next(read: Any, gateway: Any, world: Any) -> None:
    tenant, made = world
    for number in range(LIMIT + 1):
        event = {"events": [{"name": f"step {number}", "customer_id": made.team}]}
        await gateway.client.post("/api/events/ingest", json=event, headers=bearer(tenant.token))
    page = (await read(f"/api/customers/{made.team}", expand="events")).json()["events"]
    assert len(page["data"]) == LIMIT
    assert page["meta"]["total"] > LIMIT
    query = {"customer_id": made.team, "limit": LIMIT, "after": page["meta"]["next_cursor"]}
    following = (await read("/api/events/", **query)).json()["data"]
    first = (await read("/api/events/", customer_id=made.team, limit=LIMIT)).json()["data"]
    assert page["data"] == first
    assert {event["id"] for event in following}.isdisjoint(event["id"] for event in first)


@pytest.mark.parametrize(
    ("query", "cost"),
    [
        ({"expand": "share", "limit": 100}, 2),
        ({"expand": "share,customer", "limit": 100}, 3),
        ({"expand": ["share", "customer"], "limit": 10}, 3),
        ({"expand": "payments", "limit": 100}, 11),
        ({"expand": "payments.share", "limit": 10}, 3),
    ],
)
async def test_an_expansion_costs_what_it_costs_in_graphql(read: Any, query: Any, cost: int) -> None:
    answer = await read(SESSIONS, **query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["ratelimit-cost"] == str(cost)


@pytest.mark.parametrize(("model", "name"), CASES, ids=lambda value: getattr(value, "__name__", value))
async def test_a_link_needs_the_scope_that_it_needs_in_graphql(
    gateway: Any, read: Any, world: Any, model: type, name: str
) -> None:
    tenant, made = world
    operation = OPERATIONS[model]
    own = Scope(f"{'file_share_sessions' if 'file_share' in operation else operation[4:] + 's'}:read")
    needed = scope_of(model, name)
    token = await make_token(gateway, tenant, own)
    path = f"/api/{PATHS[operation]}/{EXAMPLES[operation](made)['id']}"
    answer = await read(path, token, expand=name)
    if needed == own:
        assert answer.status_code == 200
    else:
        assert (answer.status_code, answer.json()["error"]) == (403, "insufficient_scope")
    both = await make_token(gateway, tenant, own, needed)
    assert (await read(path, both, expand=name)).status_code == 200


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ("shares", "`expand`: FileShareSession has no link `shares`: did you mean `share`?"),
        (
            "x",
            "`expand`: FileShareSession has no link `x`: "
            "use `customer`, `downloads`, `payments`, `refunds`, `share`",
        ),
        ("share.prices", "`expand`: Share has no link `prices`: use `workspace`"),
        (
            "share.workspace.members",
            "`expand`: `share.workspace.members` goes too far: Workspace has no links",
        ),
        (
            "payments.customer.events.parent",
            "`expand`: `payments.customer.events.parent` has 4 levels; the limit is 3",
        ),
        (",".join(["share"] * 21), "`expand` takes at most 20 links, not 21"),
        ("," * 20, "`expand` takes at most 20 links, not 21"),
        ("s" * 1001, "`expand` has at most 1,000 characters"),
    ],
)
async def test_a_link_that_there_is_not_is_refused_by_name(read: Any, sent: str, message: str) -> None:
    answer = await read(SESSIONS, expand=sent)
    assert answer.status_code == 422
    (entry,) = answer.json()["detail"]
    assert (entry["loc"], entry["msg"]) == (["query", "expand"], message)


async def test_what_has_no_links_cannot_be_expanded(read: Any) -> None:
    answer = await read("/api/files/", expand="workspace")
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["query", "expand"]


async def test_another_tenants_rows_are_behind_no_link(gateway: Any, read: Any, world: Any) -> None:
    other = await make_tenant(gateway)
    _, made = world
    answer = await read(f"{SESSIONS}{made.file_share_session}", other.token, expand="share")
    assert answer.status_code == 404


def test_equal_words_are_read_once() -> None:
    words = ["share,customer"]
    assert read_expansion(FileShareSession, words) is read_expansion(FileShareSession, words)
    assert is_list(FileShareSession, "payments")
    with pytest.raises(Invalid):
        read_expansion(Share, ["customer"])
