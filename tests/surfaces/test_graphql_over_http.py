"""`/graphql` as HTTP sees it: methods, parameters of a wrong type, and the explorer."""

from traceback import format_exception
from typing import Any

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from tests.support.gateways import run_gateway
from tests.support.request_log import request_log

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
        assert answer.headers["content-type"] == "application/json"
        assert problem_places(answer)[0][0] in ("query", "variables")


async def test_a_browser_is_shown_the_explorer(gateway):
    accepted = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    answer = await gateway.client.get("/graphql", headers=accepted)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")


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
    with request_log() as requests, capture_logs() as lines:
        answer = await logging_gateway.client.post("/graphql", json=body, headers=headers)
        (request,) = requests()
    assert answer.json()["errors"]
    assert lines == []
    logged = f"{request} {caplog.text}"
    for part in ("Traceback", SECRET, SECRET.replace("-", "_"), "SECRE7", tenant.token):
        assert part not in logged


async def test_a_document_that_fails_here_is_logged_without_its_text(logging_gateway, tenant, monkeypatch):
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr("resolvers.shares.shares.read_one", fail)
    id = "00000000-0000-4000-8000-00005ec2e700"
    document = f'{{ my_5ec2e7: share(id: "{id}") {{ name }} }}'
    headers = {"Authorization": f"Bearer {tenant.token}"}
    with capture_logs() as lines:
        answer = await logging_gateway.client.post("/graphql", json={"query": document}, headers=headers)
    assert answer.json()["errors"][0]["extensions"]["code"] == "internal"
    (unforeseen,) = lines
    cause = unforeseen.pop("exc_info")
    assert unforeseen == {
        "event": "unforeseen",
        "log_level": "error",
        "field": "share",
    }
    logged = "".join(format_exception(cause))
    assert "the disk is full" in logged
    assert "5ec2e7" not in logged
