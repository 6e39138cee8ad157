"""Links from file-share sessions to shares and customers, and back: GraphQL only, in pages."""

from oauth.scopes import Scope
from tests.support.callers.surfaces import GraphQL
from tests.support.servers.gateways import make_token
from tests.support.tenants.file_shares import FREE, at


async def test_links_lead_to_share_customer_and_back(gateway, graphql, tenant, history, share):
    document = """
    { fileShareSessions(sorting: [CREATED_AT]) { data { share { name } customer { email
        fileShareSessions(limit: 1) { data { id } meta { total nextCursor } } } } } }
    """
    answer = await graphql(document)
    found = answer["data"]["fileShareSessions"]["data"]
    assert [item["share"] for item in found] == [None, {"name": share["name"]}, None, None, None]
    assert [item["customer"] for item in found if item["customer"]] == [
        {
            "email": "ada@example.com",
            "fileShareSessions": {
                "data": [{"id": history[2]["id"]}],
                "meta": {"total": 1, "nextCursor": None},
            },
        }
    ]
    reader = await make_token(gateway, tenant, Scope.FILE_SHARE_SESSIONS_READ)
    for link in ("share { name }", "customer { email }"):
        refused = await graphql(f"{{ fileShareSessions {{ data {{ {link} }} }} }}", reader)
        assert refused["errors"][0]["extensions"]["code"] == "insufficient_scope"


async def test_pages_of_a_customers_sessions_cover_them_once(gateway, graphql, tenant):
    surface = GraphQL(gateway.client, gateway.app, tenant.token)
    customer = await surface.create_customer(data={"email": "ada@example.com"})
    about = FREE | {"customer_id": customer["id"]}
    sessions = [
        await surface.create_file_share_session(data=about | {"created_at": at(minute)})
        for minute in range(5)
    ]
    page = "data { id } meta { total page pages nextCursor }"
    pages = " ".join(f"p{n}: fileShareSessions(limit: 2, page: {n}) {{ {page} }}" for n in (1, 2, 3, 4))
    answer = await graphql(f'{{ customer(id: "{customer["id"]}") {{ {pages} }} }}')
    found = list(answer["data"]["customer"].values())
    listed = [item["id"] for part in found for item in part["data"]]
    assert listed == [session["id"] for session in reversed(sessions)]
    assert [(part["meta"]["total"], part["meta"]["pages"]) for part in found] == [(5, 3)] * 4
    assert [part["meta"]["nextCursor"] is None for part in found] == [False, False, True, True]
    rest = await surface.list_file_share_sessions(
        customer_id=[customer["id"]], limit=2, after=found[0]["meta"]["nextCursor"]
    )
    assert [item["id"] for item in rest["data"]] == listed[2:4]
    refused = await graphql(
        f'{{ customer(id: "{customer["id"]}") {{ fileShareSessions(limit: 0) {{ data {{ id }} }} }} }}'
    )
    assert refused["errors"][0]["extensions"]["code"] == "invalid"
