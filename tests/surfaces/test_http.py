"""REST as HTTP: paths, methods, bodies, headers and the one form of every error."""

import json
from typing import Any

import pytest

from storage.caches import Cache
from tests.support.callers.refusals import UNKNOWN_ID

FIXED = {"amount_type": "fixed", "price_amount": 1500}
SHARE = {"name": "Quarterly report", "prices": [FIXED]}


@pytest.fixture
def ask(gateway, tenant):
    async def send(method: str, path: str, **options: Any) -> Any:
        headers = {"Authorization": f"Bearer {tenant.token}", **options.pop("headers", {})}
        return await gateway.client.request(method, path, headers=headers, **options)

    return send


async def test_a_question_asked_again_sees_what_has_changed_and_refusals_stay(ask):
    for total in (0, 1, 2):
        answer = await ask("GET", "/api/shares/?limit=1&query=report")
        assert (answer.json()["meta"]["total"], answer.json()["meta"]["per_page"]) == (total, 1)
        assert (await ask("GET", "/api/shares/?limit=0&query=report")).status_code == 422
        await ask("POST", "/api/shares/", json=SHARE)


async def test_the_arguments_kept_of_other_questions_are_bounded(ask, monkeypatch):
    kept = Cache(10_000)
    monkeypatch.setattr("rest_compat.routing.reading._kept", kept)
    for number in range(1, 30):
        answer = await ask("GET", f"/api/shares/?limit={number}")
        assert answer.json()["meta"]["per_page"] == number
    assert 0 < len(kept.entries) < 10
    before = len(kept.entries)
    assert (await ask("GET", f"/api/shares/?query={'long' * 300}")).status_code in (200, 422)
    assert len(kept.entries) == before


@pytest.mark.parametrize("path", ["/api/shares", "/api/shares/"])
async def test_a_collection_answers_with_and_without_its_slash(ask, path):
    assert (await ask("POST", path, json=SHARE)).status_code == 201
    listed = await ask("GET", path)
    assert listed.status_code == 200
    assert listed.json()["meta"]["total"] == 1


async def test_an_unknown_path_is_not_found(ask):
    answer = await ask("GET", "/api/shells/")
    assert answer.status_code == 404
    assert answer.json() == {"error": "not_found", "detail": "There is nothing at /api/shells/."}


async def test_a_method_that_a_path_lacks_is_named(ask):
    answer = await ask("PUT", f"/api/shares/{UNKNOWN_ID}")
    assert answer.status_code == 405
    assert answer.json()["error"] == "method_not_allowed"
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD", "PATCH", "DELETE"}


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"{'name': 1}",
        b'{"name": NaN}',
        b'{"name": "\xff"}',
        b'{"name": "\\ud800"}',
        b"[" * 100_000,
        b'{"name": Infinity}',
    ],
    ids=["half", "quotes", "NaN", "utf-8", "surrogate", "deep", "infinity"],
)
async def test_a_body_that_is_no_json_is_invalid(ask, body):
    answer = await ask("POST", "/api/shares/", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["error"] == "invalid"
    assert [entry["loc"] for entry in answer.json()["detail"]] == [["body"]]


async def test_no_body_is_an_empty_one_and_what_is_missing_is_named(ask):
    answer = await ask("POST", "/api/shares/")
    assert [entry["loc"] for entry in answer.json()["detail"]] == [["body", "name"], ["body", "prices"]]


@pytest.mark.parametrize("body", [[], 7, "text", True])
async def test_a_body_that_is_no_object_is_invalid(ask, body):
    answer = await ask("POST", "/api/shares/", json=body)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body"]


async def test_a_number_that_no_reader_holds_is_invalid_and_not_repeated(ask):
    body = json.dumps(SHARE | {"metadata": {"n": 10**400}, "is_archived": 1e308})
    answer = await ask("POST", "/api/shares/", content=body)
    assert answer.status_code == 422
    entries = {tuple(entry["loc"]): entry for entry in answer.json()["detail"]}
    assert "input" not in entries[("body", "metadata", "n")]


async def test_an_unknown_query_parameter_is_named(ask):
    for method, path in (
        ("GET", "/api/shares/"),
        ("GET", f"/api/shares/{UNKNOWN_ID}"),
        ("POST", "/api/shares/"),
    ):
        answer = await ask(method, f"{path}?colour=red", json=SHARE if method == "POST" else None)
        assert answer.status_code == 422, path
        (entry,) = answer.json()["detail"]
        assert (entry["loc"], entry["type"]) == (["query", "colour"], "extra_forbidden")


async def test_problems_of_path_query_and_body_come_together(ask):
    answer = await ask("PATCH", "/api/shares/x?colour=red", json={"name": "ab"})
    assert {tuple(entry["loc"]) for entry in answer.json()["detail"]} == {
        ("path", "id"),
        ("query", "colour"),
        ("body", "name"),
    }


async def test_a_parameter_that_is_no_list_cannot_come_twice(ask):
    answer = await ask("GET", "/api/shares/?limit=5&limit=6")
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["query", "limit"]


@pytest.mark.parametrize("query", ["page=0", "limit=0", "limit=101", "page=x", "page=2147483648", "after=x"])
async def test_a_page_out_of_bounds_is_invalid(ask, query):
    answer = await ask("GET", f"/api/shares/?{query}")
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["query", query.partition("=")[0]]


async def test_a_page_past_the_end_is_empty_with_the_true_total(ask):
    await ask("POST", "/api/shares/", json=SHARE)
    assert (await ask("GET", "/api/shares/?page=9")).json() == {
        "data": [],
        "meta": {"total": 1, "page": 9, "per_page": 10, "pages": 1, "next_cursor": None},
        "pagination": {"total_count": 1, "max_page": 1},
    }


async def test_a_request_id_is_kept_if_valid_and_made_if_not(ask):
    assert (await ask("GET", "/api/shares/", headers={"X-Request-ID": "r-42"})).headers[
        "x-request-id"
    ] == "r-42"
    made = (await ask("GET", "/api/shares/", headers={"X-Request-ID": "r 42\\"})).headers["x-request-id"]
    assert len(made) == 32


@pytest.mark.parametrize("credential", ["Bearer dg_wat_x", "Bearer ", "bearer dg_at_" + "0" * 36])
async def test_an_unknown_credential_is_an_invalid_token(ask, credential):
    answer = await ask("GET", "/api/shares/", headers={"Authorization": credential})
    assert answer.status_code == 401
    assert answer.json()["error"] == "invalid_token"
    assert answer.headers["www-authenticate"] == 'Bearer realm="duograph", error="invalid_token"'


async def test_no_credential_is_unauthorized_before_anything_is_read(gateway):
    answer = await gateway.client.post("/api/shares/", content=b"{")
    assert answer.status_code == 401
    assert answer.json()["error"] == "unauthorized"
    assert answer.headers["www-authenticate"] == 'Bearer realm="duograph"'


async def test_a_read_is_not_sent_again_while_its_etag_holds(ask):
    id = (await ask("POST", "/api/shares/", json=SHARE)).json()["id"]
    first = await ask("GET", f"/api/shares/{id}")
    again = await ask("GET", f"/api/shares/{id}", headers={"If-None-Match": f'"x", {first.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    await ask("PATCH", f"/api/shares/{id}", json={"prices": [{"amount_type": "free"}]})
    changed = await ask("GET", f"/api/shares/{id}", headers={"If-None-Match": first.headers["etag"]})
    assert changed.status_code == 200
    assert changed.headers["etag"] != first.headers["etag"]


async def test_an_etag_is_the_same_on_both_surfaces(ask):
    id = (await ask("POST", "/api/shares/", json=SHARE)).json()["id"]
    rest = await ask("GET", f"/api/shares/{id}")
    query = {"query": f'{{ share(id: "{id}") {{ etag }} shares {{ data {{ etag }} }} }}'}
    graphql = (await ask("POST", "/graphql", json=query)).json()["data"]
    assert graphql["share"]["etag"] == graphql["shares"]["data"][0]["etag"] == rest.headers["etag"]


@pytest.mark.parametrize("key", ["", "k" * 256, "with space", "ä"])
async def test_an_idempotency_key_has_a_form(ask, key):
    answer = await ask("POST", "/api/shares/", json=SHARE, headers={b"Idempotency-Key": key.encode()})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["header", "Idempotency-Key"]


async def test_a_failed_operation_leaves_its_key_free(ask):
    headers = {"Idempotency-Key": "k"}
    assert (await ask("POST", "/api/shares/", json={}, headers=headers)).status_code == 422
    assert (await ask("POST", "/api/shares/", json=SHARE, headers=headers)).status_code == 201


async def test_a_key_kept_over_one_surface_counts_on_the_other(ask):
    headers = {"Idempotency-Key": "k"}
    first = await ask("POST", "/api/shares/", json=SHARE, headers=headers)
    document = "mutation($d: ShareCreate!) { createShare(data: $d) { id } }"
    data = {"name": SHARE["name"], "prices": [{"amountType": "FIXED", "priceAmount": 1500}]}
    again = await ask("POST", "/graphql", json={"query": document, "variables": {"d": data}}, headers=headers)
    assert again.json()["data"]["createShare"]["id"] == first.json()["id"]
    assert again.headers["idempotency-replayed"] == "true"
