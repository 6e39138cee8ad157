"""GraphQL documents as a whole: what is refused, how it is worded, and what it costs."""

from typing import Any

import pytest

from oauth.scopes import Scope
from tests.support.callers.surfaces import joined
from tests.support.servers.gateways import make_token

FIXED = {"amountType": "FIXED", "priceAmount": 1500}


@pytest.fixture
def post(gateway, tenant):
    async def send(
        query: str, variables: Any = None, token: str | None = tenant.token, **headers: str
    ) -> Any:
        sent = {"Authorization": f"Bearer {token}"} if token else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await gateway.client.post(
            "/graphql", json={"query": query, "variables": variables}, headers=sent
        )

    return send


async def extensions(answer: Any) -> Any:
    """The extensions of the first error, with the problems of all."""
    return joined(answer.json()["errors"])["extensions"]


DAY = 'startDate: "2026-01-31", endDate: "2026-01-31", interval: DAY'
NULL_FILTERS = [
    ("fileShareSessions(shareId: null) { data { id } }", "shareId"),
    ("fileSharePayments(customerId: null) { data { id } }", "customerId"),
    ("events(shareIdNot: null) { data { id } }", "shareIdNot"),
    ("customers(query: null) { data { id } }", "query"),
    (f"metrics({DAY}, shareId: null) {{ totals {{ costs }} }}", "shareId"),
]


@pytest.mark.parametrize(("field", "name"), NULL_FILTERS)
async def test_a_filter_of_null_is_refused_and_does_not_give_everything(post, field, name):
    answer = await post(f"{{ {field} }}")
    (problem,) = (await extensions(answer))["detail"]
    assert (problem["loc"], problem["type"]) == ([name], "null_filter")
    assert problem["msg"] == f"`{name}` should not be null: leave the filter out to get everything"


async def test_a_filter_of_null_is_refused_in_a_variable_and_left_out_it_gives_everything(post):
    document = "query ($ids: [ID!], $page: Int) { shares(id: $ids, page: $page) { meta { total } } }"
    assert (await extensions(await post(document, {"ids": None})))["detail"][0]["loc"] == ["id"]
    for variables in ({}, {"page": None}):
        assert (await post(document, variables)).json() == {"data": {"shares": {"meta": {"total": 0}}}}


async def test_an_invalid_credential_is_refused_by_http_too(post):
    answer = await post("{ __typename }", token="dg_wat_unknown")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="duograph", error="invalid_token"'
    assert (await extensions(answer))["code"] == "invalid_token"


async def test_without_a_credential_nothing_of_a_workspace_is_shown(post):
    answer = await post("{ shares { data { id } } }", token=None)
    assert await extensions(answer) == {
        "code": "unauthorized",
        "status": 401,
        "detail": "Send a credential: `Authorization: Bearer <token>`.",
    }


async def test_of_several_operations_the_one_that_runs_is_judged(gateway):
    document = "query A { __typename } query B { shares { data { id } } }"
    for name, codes in (("A", []), ("B", ["unauthorized"]), ("C", ["invalid"]), (None, ["invalid"])):
        body = {"query": document, "operationName": name}
        answer = (await gateway.client.post("/graphql", json=body)).json()
        assert [error["extensions"]["code"] for error in answer.get("errors", [])] == codes


async def test_a_missing_share_is_null_beside_a_found_one(post):
    created = await post(
        "mutation($d: ShareCreate!) { createShare(data: $d) { id } }",
        {"d": {"name": "One", "prices": [FIXED]}},
    )
    id = created.json()["data"]["createShare"]["id"]
    answer = (
        await post(
            "query($id: ID!) { a: share(id: $id) { name } "
            'b: share(id: "00000000-0000-4000-8000-000000000000") { name } }',
            {"id": id},
        )
    ).json()
    assert answer["data"] == {"a": {"name": "One"}, "b": None}
    assert [error["path"] for error in answer["errors"]] == [["b"]]
    assert answer["errors"][0]["extensions"]["code"] == "not_found"


@pytest.mark.parametrize(
    ("variables", "problems"),
    [
        ({"name": "ab", "prices": [FIXED]}, {("data", "name"): "string_too_short"}),
        ({"name": 7, "prices": [FIXED]}, {("data", "name"): "string_type"}),
        ({"prices": [FIXED]}, {("data", "name"): "missing"}),
        (
            {"name": "abc", "prices": [FIXED | {"priceAmount": "12"}], "isArchived": True},
            {("data", "prices", 0, "priceAmount"): "int_type", ("data", "isArchived"): "extra_forbidden"},
        ),
        ({"name": "abc", "prices": [FIXED], "visibility": "secret"}, {("data", "visibility"): "enum"}),
        ({"name": "abc", "prices": []}, {("data", "prices"): "too_short"}),
        ({"name": "abc", "prices": [FIXED], "medias": ["x"]}, {("data", "medias", 0): "uuid_parsing"}),
    ],
)
async def test_what_graphql_refuses_is_listed_as_rest_lists_it(post, variables, problems):
    answer = await post("mutation($d: ShareCreate!) { createShare(data: $d) { id } }", {"d": variables})
    refused = await extensions(answer)
    assert (refused["code"], refused["status"]) == ("invalid", 422)
    assert {tuple(entry["loc"]): entry["type"] for entry in refused["detail"]} == problems


async def test_literals_are_refused_in_the_same_way(post):
    answer = await post("mutation { createShare(data: {name: 7, prices: []}) { id } }")
    refused = await extensions(answer)
    assert {tuple(entry["loc"]): entry["type"] for entry in refused["detail"]} == {
        ("data", "name"): "string_type",
        ("data", "prices"): "too_short",
    }


async def test_an_argument_of_a_list_is_named_as_the_document_names_it(post):
    refused = await extensions(await post('{ shares(limit: 101, workspaceId: ["x"]) { data { id } } }'))
    assert [entry["loc"] for entry in refused["detail"]] == [["limit"], ["workspaceId", 0]]


@pytest.mark.parametrize(
    "document", ["", "{", "{ nothing }", "subscription { x }", "{ shares { data { colour } } }", "\x00"]
)
async def test_a_document_that_is_no_good_is_invalid(post, document):
    answer = await post(document)
    assert answer.status_code == (200 if document else 400)
    refused = await extensions(answer)
    assert (refused["code"], refused["status"]) == ("invalid", 422)


async def test_scopes_are_asked_before_the_input_is_looked_at(post, gateway, tenant):
    token = await make_token(gateway, tenant, Scope.FILES_READ)
    refused = await extensions(await post("mutation { createShare(data: 7) { id } }", token=token))
    assert (refused["code"], refused["status"]) == ("insufficient_scope", 403)


async def test_a_link_needs_its_own_scope(post, gateway, tenant):
    token = await make_token(gateway, tenant, Scope.SHARES_READ, Scope.SHARES_WRITE)
    create = "mutation($d: ShareCreate!) { createShare(data: $d) { workspace { name } } }"
    answer = await post(create, {"d": {"name": "One", "prices": [FIXED]}}, token=token)
    assert answer.json()["data"] == {"createShare": {"workspace": None}}
    refused = await extensions(answer)
    assert refused["code"] == "insufficient_scope"
    assert "workspaces:read" in refused["detail"]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{ " + "a { " * 20 + "b" + " }" * 20 + " }", "has 21 levels of fields; the limit is 15"),
        ("{ " + " ".join(f"a{n}: shares {{ meta {{ total }} }}" for n in range(61)) + " }", "61 aliases"),
        ("{ " + "__typename " * 5_001 + " }", "more than 5000 tokens"),
        ("{__typename}#" + "é" * 32_768, "65549 bytes; the limit is 65536"),
        (
            "query { ...a ...a } "
            + " ".join(f"fragment f{n} on Query {{ ...f{n + 1} ...f{n + 1} }}" for n in range(40))
            + " fragment f40 on Query { __typename } fragment a on Query { ...f0 }",
            "more than",
        ),
    ],
    ids=["depth", "aliases", "tokens", "bytes", "fragments"],
)
async def test_what_could_never_fit_says_the_limit_and_the_value(post, document, message):
    refused = await extensions(await post(document))
    assert (refused["code"], refused["status"]) == ("too_complex", 422)
    assert message in refused["detail"]


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ("{" + "#\n" * 4_996 + "__typename } {", "invalid"),
        ("{" + "#\n" * 4_997 + "__typename } {", "too_complex"),
        ("{ __typename }" + "#\n" * 5_000, "too_complex"),
        ('{ "more than" }', "invalid"),
        ("{ ) " + "a " * 6_000 + "}", "invalid"),
        ("{ " + "a " * 4_998 + "\x00", "invalid"),
        ("{ " + "a " * 5_000 + "\x00", "too_complex"),
    ],
)
async def test_tokens_are_counted_up_to_the_first_error(post, document, code):
    refused = await extensions(await post(document))
    assert refused["code"] == code


async def test_two_mutations_cannot_share_an_idempotency_key(post):
    field = 'deleteShare(id: "00000000-0000-4000-8000-000000000000")'
    answer = await post(f"mutation {{ a: {field} b: {field} }}", idempotency_key="k")
    refused = await extensions(answer)
    assert refused["detail"][0]["loc"] == ["header", "Idempotency-Key"]


async def test_an_unforeseen_failure_says_only_the_request_id(surface, monkeypatch):
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("postgres://admin:hunter2@db")

    monkeypatch.setattr("resolvers.shares.shares.read_one", fail)
    with pytest.raises(Exception, match="internal") as refused:
        await surface.with_headers(x_request_id="r-42").get_share(id="00000000-0000-4000-8000-000000000000")
    assert refused.value.status == 500
    assert "r-42" in refused.value.detail
    assert "hunter2" not in str(refused.value)
