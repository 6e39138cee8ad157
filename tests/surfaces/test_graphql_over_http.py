"""`/graphql` as HTTP sees it: methods, parameters of a wrong type, and the explorer."""

from traceback import format_exception
from typing import Any

import pytest
import pytest_asyncio

from tests.support.measures.log_lines import own_log_lines
from tests.support.measures.request_log import request_log
from tests.support.servers.gateways import run_gateway

SECRET = "s3cret-of-a-caller"
DOCUMENT = "{ __typename }"


@pytest_asyncio.fixture(scope="module")
async def logging_gateway(database_url, tmp_path_factory):
    """A gateway with an access log over the same database."""
    async for gateway in run_gateway(database_url, tmp_path_factory.mktemp("objects"), access_log=True):
        yield gateway


def problem_places(answer: Any) -> list[Any]:
    (error,) = answer.json()["errors"]
    assert error["extensions"]["code"] == "invalid"
    return [entry["loc"] for entry in error["extensions"]["detail"]]


@pytest.mark.parametrize("value", [7, "x", [1], True])
@pytest.mark.parametrize("name", ["extensions", "variables"])
async def test_extensions_and_variables_of_a_wrong_type_are_refused(gateway, name, value):
    answer = await gateway.client.post("/graphql", json={"query": DOCUMENT, name: value})
    assert problem_places(answer) == [[name]]


@pytest.mark.parametrize("value", [None, {}, {"persistedQuery": {"version": 1}}])
async def test_extensions_are_an_object_or_null(gateway, value):
    answer = await gateway.client.post("/graphql", json={"query": DOCUMENT, "extensions": value})
    assert answer.json() == {"data": {"__typename": "Query"}}


@pytest.mark.parametrize("name", ["extensions", "variables"])
@pytest.mark.parametrize("text", ["{", "[1]", "7", ""])
async def test_parameters_of_a_wrong_type_are_refused_by_get_too(gateway, name, text):
    answer = await gateway.client.get("/graphql", params={"query": DOCUMENT, name: text})
    assert problem_places(answer) == [[name]]


@pytest.mark.parametrize("params", [{}, {"variables": "{"}, {"operationName": "A"}])
async def test_a_program_without_a_document_gets_an_error_instead_of_the_explorer(gateway, params):
    for accepted in ("*/*", "application/json", "application/graphql-response+json"):
        answer = await gateway.client.get("/graphql", params=params, headers={"Accept": accepted})
        assert answer.headers["content-type"] == accepted.replace("*/*", "application/json")
        assert problem_places(answer)[0][0] in ("query", "variables")


async def test_a_browser_is_shown_the_explorer(gateway):
    accepted = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    answer = await gateway.client.get("/graphql", headers=accepted)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")


RESPONSE = "application/graphql-response+json"


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        (None, "application/json"),
        ("*/*", "application/json"),
        ("application/json", "application/json"),
        ("text/html", "application/json"),
        (RESPONSE, RESPONSE),
        ("Application/GraphQL-Response+JSON; charset=utf-8", RESPONSE),
        (f"{RESPONSE}, application/json;q=0.9", RESPONSE),
        (f"application/json;q=0.9, {RESPONSE};q=0.5", "application/json"),
        (f"application/json, {RESPONSE}", "application/json"),
        (f"{RESPONSE}, application/graphql+json, application/json, text/event-stream", RESPONSE),
        (f"{RESPONSE};q=0, */*;q=0.1", "application/json"),
        (f"{RESPONSE};q=x, ,;;q=", "application/json"),
        (f"{RESPONSE};q=inf, application/json", "application/json"),
        (f"{RESPONSE};q=1_0, application/json", "application/json"),
    ],
)
async def test_the_media_type_is_the_one_that_the_client_prefers(gateway, accept, chosen):
    headers = {"Accept": accept} if accept else {}
    sent = gateway.client.build_request("POST", "/graphql", json={"query": DOCUMENT}, headers=headers)
    if accept is None:
        del sent.headers["Accept"]
    answer = await gateway.client.send(sent)
    assert (answer.status_code, answer.headers["content-type"]) == (200, chosen)


ID = "00000000-0000-4000-8000-000000000000"
ASKED: dict[str, tuple[dict[str, Any], int, int]] = {
    # What is sent, and the status with application/json and with application/graphql-response+json.
    "no JSON": ({"content": "{", "headers": {"Content-Type": "application/json"}}, 400, 400),
    "no document": ({"json": {}}, 400, 400),
    "a batch": ({"json": [{"query": DOCUMENT}]}, 400, 400),
    "variables of a wrong type": ({"json": {"query": DOCUMENT, "variables": [1]}}, 400, 400),
    "another type of body": ({"content": DOCUMENT, "headers": {"Content-Type": "text/plain"}}, 415, 415),
    "a syntax error": ({"json": {"query": "{"}}, 200, 400),
    "an unknown field": ({"json": {"query": "{ nothing }"}}, 200, 400),
    "too many aliases": (
        {"json": {"query": "{" + " ".join(f"a{n}: __typename" for n in range(61)) + "}"}},
        200,
        400,
    ),
    "a missing variable": ({"json": {"query": "query($id: ID!) { share(id: $id) { id } }"}}, 200, 400),
    "no such operation": ({"json": {"query": DOCUMENT, "operationName": "A"}}, 200, 400),
    "a share that is absent": ({"json": {"query": f'{{ share(id: "{ID}") {{ id }} }}'}}, 200, 200),
}


@pytest.mark.parametrize("name", ASKED)
async def test_each_media_type_has_its_status_codes(gateway, tenant, name):
    sent, *statuses = ASKED[name]
    for accept, status in zip(("application/json", RESPONSE), statuses, strict=True):
        headers = {**sent.get("headers", {}), "Authorization": f"Bearer {tenant.token}", "Accept": accept}
        answer = await gateway.client.post("/graphql", **{**sent, "headers": headers})
        assert (answer.status_code, answer.headers["content-type"]) == (status, accept)
        body = answer.json()
        assert body["errors"]
        # Only what was executed has data.
        assert ("data" in body) == (name == "a share that is absent")


async def test_what_is_refused_before_it_is_read_has_the_clients_media_type(gateway):
    for token, code in (("Bearer dg_wat_unknown", "invalid_token"), ("", "unauthorized")):
        headers = {"Accept": RESPONSE, **({"Authorization": token} if token else {})}
        answer = await gateway.client.post(
            "/graphql", json={"query": "{ shares { data { id } } }"}, headers=headers
        )
        assert (answer.status_code, answer.headers["content-type"]) == (401, RESPONSE)
        assert answer.json()["errors"][0]["extensions"]["code"] == code
        assert "data" not in answer.json()


async def test_accept_on_several_lines_is_one_list(gateway):
    lines = [("Accept", "application/json;q=0.5"), ("Accept", RESPONSE)]
    answer = await gateway.client.post("/graphql", json={"query": "{ __typename }"}, headers=lines)
    assert answer.headers["content-type"] == RESPONSE


@pytest.mark.parametrize("accept", ["application/json", RESPONSE])
async def test_a_mutation_by_get_is_not_allowed_and_not_made(gateway, tenant, accept):
    document = 'mutation { createCustomer(data: {email: "by-get@example.com"}) { id } }'
    headers = {"Authorization": f"Bearer {tenant.token}", "Accept": accept}
    for _ in range(2):
        answer = await gateway.client.get("/graphql", params={"query": document}, headers=headers)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
        assert answer.headers["content-type"] == accept
        assert answer.json()["errors"][0]["extensions"] == {
            "code": "method_not_allowed",
            "detail": "GET accepts queries only: send mutations by POST.",
            "status": 405,
        }
    listed = await gateway.client.get("/api/customers/", headers=headers)
    assert listed.json()["meta"]["total"] == 0


REFUSED = {
    "a syntax error": f'{{ share(id: "{SECRET}" ',
    "an unknown field": f'{{ {SECRET.replace("-", "_")}(id: "{SECRET}") }}',
    "a literal of a wrong type": f'{{ share(id: "{SECRET}") {{ id }} }}',
    "a missing credential": f'mutation {{ createShare(data: {{name: "{SECRET}"}}) {{ id }} }}',
    "a wrong code": f'mutation {{ authenticatePortalCode(data: {{email: "{SECRET}@example.com", '
    f'slug: "{SECRET}", code: "SECRE7"}}) {{ token }} }}',
    "too many aliases": "{ "
    + " ".join(f'{SECRET.replace("-", "_")}{n}: share(id: "{SECRET}") {{ id }}' for n in range(61))
    + " }",
    "a fragment that is unknown": f"{{ ...{SECRET.replace('-', '_')} }}",
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("has_credential", [True, False])
async def test_a_refused_document_leaves_one_line_without_itself_in_the_log(
    logging_gateway, tenant, caplog, name, has_credential
):
    headers = {"Authorization": f"Bearer {tenant.token}"} if has_credential else {}
    for library in ("strawberry", "graphql", "asyncio", "gateway", "resolvers"):
        caplog.set_level("DEBUG", library)
    body = {"query": REFUSED[name], "variables": {"unused": SECRET}}
    with request_log() as requests, own_log_lines() as lines:
        answer = await logging_gateway.client.post("/graphql", json=body, headers=headers)
        (request,) = requests()
    assert answer.json()["errors"]
    assert [line["event"] for line in lines] in ([], ["access refused"])
    logged = f"{request} {lines} {caplog.text}"
    for part in ("Traceback", SECRET, SECRET.replace("-", "_"), "SECRE7", tenant.token):
        assert part not in logged


async def test_a_document_that_fails_here_is_logged_without_its_text(logging_gateway, tenant, monkeypatch):
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr("resolvers.shares.shares.read_one", fail)
    id = "00000000-0000-4000-8000-00005ec2e700"
    document = f'{{ my_5ec2e7: share(id: "{id}") {{ name }} }}'
    headers = {"Authorization": f"Bearer {tenant.token}"}
    with own_log_lines() as lines:
        answer = await logging_gateway.client.post("/graphql", json={"query": document}, headers=headers)
    assert answer.json()["errors"][0]["extensions"]["code"] == "internal"
    (unforeseen,) = lines
    cause = unforeseen.pop("exc_info")
    assert unforeseen == {"event": "unforeseen", "log_level": "error", "field": "share"}
    logged = "".join(format_exception(cause))
    assert "the disk is full" in logged
    assert "5ec2e7" not in logged
