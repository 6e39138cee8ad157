"""What plans make of values that only a request decides: nulls, switches, links that are refused."""

import json
from itertools import product

import pytest

from oauth.scopes import Scope
from resolvers.graph.execution.planned.plans import MOST_VARIANTS
from resolvers.graph.http import requests
from resolvers.graph.http.errors import MOST_ERRORS
from storage.engine.outages import DatabaseUnreachable
from tests.support.callers.refusals import refused
from tests.support.callers.surfaces import Rest
from tests.support.callers.world import WEBHOOK
from tests.support.databases.large_rows import insert_shares
from tests.support.servers.gateways import bearer, make_token

ABSENT = "00000000-0000-4000-8000-000000000000"
DAY = 'startDate: "2026-01-31", endDate: "2026-01-31", timezone: "UTC", interval: DAY'


@pytest.fixture
def ask(gateway, tenant):
    async def send(query, token=tenant.token, operation=None, **variables):
        sent = {"query": query, "variables": variables, "operationName": operation}
        return (await gateway.client.post("/graphql", json=sent, headers=bearer(token))).json()

    return send


@pytest.mark.parametrize("field", ["share(id: $id) { name }", "node(id: $id) { id }"])
async def test_null_in_place_of_a_default_is_refused_at_its_field_each_time(ask, field):
    """Its document is valid, so that its plan finds the null."""
    document = f'query ($id: ID = "{ABSENT}") {{ asked: {field} beside: shares {{ meta {{ total }} }} }}'
    for _ in range(3):
        answer = await ask(document, id=None)
        assert answer["data"] == {"asked": None, "beside": {"meta": {"total": 0}}}
        (error,) = answer["errors"]
        assert (error["path"], error["extensions"]["code"]) == (["asked"], "invalid")
        assert error["message"].startswith("Argument 'id' has invalid value")
    assert (await ask(document))["errors"][0]["extensions"]["code"] == "not_found"


async def test_a_request_is_kept_unless_its_refusal_holds_nodes_of_the_document(gateway, tenant):
    document = f'query ($id: ID = "{ABSENT}") {{ share(id: $id) {{ name }} }}'
    for id, is_kept in ((ABSENT, True), ("no id", True), (None, False)):
        body = json.dumps({"query": document, "variables": {"id": id}}).encode()
        headers = {**bearer(tenant.token), "Content-Type": "application/json"}
        for _ in range(2):
            answer = await gateway.client.post("/graphql", content=body, headers=headers)
            assert answer.json()["errors"]
        assert (requests._kept.get(("POST", body)) is not None) == is_kept


async def test_null_in_place_of_a_default_is_refused_before_the_caller(ask, gateway, tenant):
    token = await make_token(gateway, tenant, Scope.FILES_READ)
    document = f'query ($id: ID = "{ABSENT}") {{ share(id: $id) {{ name }} }}'
    assert (await ask(document, token, id=None))["errors"][0]["extensions"]["code"] == "invalid"
    assert (await ask(document, token))["errors"][0]["extensions"]["code"] == "insufficient_scope"


async def test_each_choice_of_the_switches_is_answered_and_few_are_kept(ask, gateway):
    fields = "kind @include(if: $a) workspace: workspaceId @include(if: $b) user: userId @skip(if: $c)"
    document = f"query ($a: Boolean!, $b: Boolean!, $c: Boolean!) {{ viewer {{ __typename {fields} }} }}"
    for _ in range(2):
        for a, b, c in product((True, False), repeat=3):
            viewer = (await ask(document, a=a, b=b, c=c))["data"]["viewer"]
            shown = {"kind": a, "workspace": b, "user": not c}
            assert viewer.keys() == {"__typename", *(name for name, is_shown in shown.items() if is_shown)}
    (plan,) = gateway.app.state.schema.documents.parsed.get(document).plans.values()
    assert 0 < len(plan.variants) <= MOST_VARIANTS


async def test_an_outage_before_the_credential_is_confirmed_is_the_whole_answer(
    ask, gateway, tenant, monkeypatch
):
    """A credential that was used before is looked up together with what it reads."""
    document = "{ shares { meta { total } } customers { meta { total } } }"
    for _ in range(2):
        assert (await ask(document))["data"]["shares"] == {"meta": {"total": 0}}

    # No database of the tests is lost for one request alone.
    async def lost(*_, **__):
        raise DatabaseUnreachable("The database is away.")

    monkeypatch.setattr(gateway.database, "fetch", lost)
    headers = bearer(tenant.token)
    answer = await gateway.client.post("/graphql", json={"query": document}, headers=headers)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert "data" not in answer.json()


async def test_a_fragment_that_is_spread_twice_counts_once(ask):
    once = await ask("{ viewer { ...A } } fragment A on Viewer { kind ...B } fragment B on Viewer { userId }")
    twice = "{ viewer { ...A ...A ...B } } fragment A on Viewer { kind ...B } fragment B on Viewer { userId }"
    assert await ask(twice) == once
    assert list(once["data"]["viewer"]) == ["kind", "userId"]


async def test_rows_of_which_nothing_is_left_are_empty_objects(ask):
    document = f"query ($no: Boolean!) {{ metrics({DAY}) {{ periods {{ costs @skip(if: $no) }} }} }}"
    periods = (await ask(document, no=False))["data"]["metrics"]["periods"]
    assert [list(period) for period in periods] == [["costs"]]
    assert (await ask(document, no=True))["data"]["metrics"]["periods"] == [{} for _ in periods]


async def test_a_refused_link_of_what_is_not_there_is_not_told(ask, gateway, tenant):
    rest = Rest(gateway.client, gateway.app, tenant.token)
    customer = await rest.create_customer(data={"email": "ada@example.com"})
    events = [{"name": "seen", "customer_id": customer["id"]}, {"name": "seen"}]
    await rest.ingest_events(data={"events": events})
    below = "customer { id sessions: fileShareSessions(limit: 0) { data { id } } }"
    answer = await ask(f'{{ events(name: "seen") {{ data {{ {below} }} }} }}')
    found = [event["customer"] for event in answer["data"]["events"]["data"]]
    place = found.index({"id": customer["id"], "sessions": None})
    assert sorted(found, key=bool) == [None, {"id": customer["id"], "sessions": None}]
    (error,) = answer["errors"]
    assert error["path"] == ["events", "data", place, "customer", "sessions"]


async def test_an_answer_lists_a_hundred_errors_and_counts_the_others(ask, gateway, tenant):
    await insert_shares(gateway, tenant, MOST_ERRORS // 2 + 5, "")
    token = await make_token(gateway, tenant, Scope.SHARES_READ)
    links = "one: workspace { id } two: workspace { id }"
    answer = await ask(f"{{ shares(limit: 100) {{ data {{ {links} }} }} }}", token)
    assert len(answer["data"]["shares"]["data"]) == MOST_ERRORS // 2 + 5
    assert len(answer["errors"]) == MOST_ERRORS
    assert answer["extensions"] == {"more": 10}


async def test_a_document_without_an_operation_is_refused_as_such(ask):
    (error,) = (await ask("fragment A on Share { id }"))["errors"]
    assert error["message"] == "The document of `query` has no operation: send a query or a mutation"
    assert error["extensions"]["detail"][0]["loc"] == ["query"]


async def test_variables_of_introspection_are_refused_as_others_are(ask):
    document = "query ($name: String!) { __type(name: $name) { name } }"
    for _ in range(2):
        (error,) = (await ask(document))["errors"]
        assert error["extensions"]["code"] == "invalid"
        assert "$name" in error["message"]
        assert (await ask(document, name="Share"))["data"] == {"__type": {"name": "Share"}}


async def test_a_long_question_about_the_schema_is_answered_and_not_kept(ask, gateway):
    answers = gateway.app.state.schema.documents.answers
    document = '{ __type(name: "Share") { name } } # '
    for text, is_kept in ((document, True), (document + "x" * 9_000, False)):
        assert await ask(text) == {"data": {"__type": {"name": "Share"}}}
        assert (answers.get(f"\n{text}") is not None) == is_kept


async def test_another_operation_of_a_known_outline_is_not_its_template(ask):
    def document(id):
        return f'query A {{ share(id: "{id}") {{ id }} }}'

    refused = (await ask(document("first"), operation="A"))["errors"][0]
    assert refused["extensions"]["detail"][0]["loc"] == ["id"]
    refused = (await ask(document("second"), operation="B"))["errors"][0]
    assert refused["extensions"]["detail"][0]["loc"] == ["operationName"]


async def test_a_document_of_an_endpoint_that_costs_too_much_says_so(surface):
    document = "{ customers(limit: %s) { data { events(limit: 100) { data { id } } } } }"
    asked = surface.create_webhook_endpoint(data=WEBHOOK | {"document": document % 100})
    (problem,) = (await refused(asked, 422, "invalid")).detail
    assert problem["msg"] == "`document`: The document costs 101 calls; the limit is 100"
    await surface.create_webhook_endpoint(data=WEBHOOK | {"document": document % 99})


@pytest.mark.parametrize(("length", "problems"), [(500, {}), (501, {("metadata", "a"): "string_too_long"})])
async def test_a_text_in_metadata_has_a_limit(surface, length, problems):
    asked = surface.create_customer(data={"email": "ada@example.com", "metadata": {"a": "x" * length}})
    if not problems:
        assert (await asked)["metadata"] == {"a": "x" * length}
        return
    said = await refused(asked, 422, "invalid")
    assert said.problems == problems
