"""Documents that clients send by hash, as Apollo's clients do."""

import json
from hashlib import sha256
from typing import Any

import pytest

from resolvers.graph.http import persisted, requests
from storage.caches import Cache, SharedCache
from tests.support.callers.world import make_customer_token
from tests.support.servers.gateways import bearer, make_tenant

DOCUMENT = "query Named($limit: Int!) { shares(limit: $limit) { data { name } } }"
EMPTY = {"data": {"shares": {"data": []}}}


def hash_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def extensions(digest: Any, version: Any = 1) -> dict[str, Any]:
    return {"persistedQuery": {"version": version, "sha256Hash": digest}}


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    keep_up_to(monkeypatch, persisted.BYTES_OF_TEXTS, persisted.BYTES_OF_AN_OWNER)


def keep_up_to(monkeypatch: Any, largest: int, share: int) -> None:
    monkeypatch.setattr(persisted, "_texts", SharedCache(largest, share))


@pytest.fixture
def send(gateway):
    async def send(token: str | None, text: str | None = None, digest: str = hash_of(DOCUMENT)) -> Any:
        body = {"variables": {"limit": 3}, "extensions": extensions(digest)}
        headers = bearer(token) if token else {}
        sent = body if text is None else body | {"query": text}
        return (await gateway.client.post("/graphql", json=sent, headers=headers)).json()

    return send


def is_unknown(answer: Any) -> bool:
    (error,) = answer["errors"]
    assert error["message"] == "PersistedQueryNotFound"
    return error["extensions"]["code"] == "persisted_query_not_found"


async def test_a_document_is_sent_once_and_then_by_its_hash(send, tenant):
    assert is_unknown(await send(tenant.token))
    for text in (DOCUMENT, None, None, DOCUMENT, None):
        assert await send(tenant.token, text) == EMPTY


async def test_a_query_by_hash_may_be_sent_by_get(gateway, send, tenant):
    await send(tenant.token, DOCUMENT)
    params = {"variables": '{"limit": 3}', "extensions": json.dumps(extensions(hash_of(DOCUMENT)))}
    headers = {"Authorization": f"Bearer {tenant.token}", "Accept": "text/html"}
    answer = await gateway.client.get("/graphql", params=params, headers=headers)
    assert answer.json() == EMPTY


async def test_the_version_may_be_left_out(gateway, send, tenant):
    await send(tenant.token, DOCUMENT)
    body = {"variables": {"limit": 3}, "extensions": {"persistedQuery": {"sha256Hash": hash_of(DOCUMENT)}}}
    answer = await gateway.client.post("/graphql", json=body, headers=bearer(tenant.token))
    assert answer.json() == EMPTY


async def test_a_document_is_known_to_its_workspace_only(gateway, send, tenant):
    other = await make_tenant(gateway)
    await send(tenant.token, DOCUMENT)
    assert is_unknown(await send(other.token))
    assert is_unknown(await send(tenant.personal_token))
    # The same bytes as the first workspace sent: they are kept for this one too.
    assert await send(other.token, DOCUMENT) == EMPTY
    assert await send(other.token) == EMPTY


async def test_an_answer_by_hash_is_the_callers_own(send, gateway, tenant):
    other = await make_tenant(gateway)
    for each in (tenant, other):
        await send(each.token, DOCUMENT)
    share = {"name": "Field guide", "prices": [{"amount_type": "free"}]}
    (await gateway.client.post("/api/shares/", json=share, headers=bearer(tenant.token))).raise_for_status()
    for _ in range(2):
        assert await send(tenant.token) == {"data": {"shares": {"data": [{"name": "Field guide"}]}}}
        assert await send(other.token) == EMPTY


async def test_a_document_without_a_credential_is_run_and_not_kept(send):
    text = "{ __typename }"
    assert await send(None, text, hash_of(text)) == {"data": {"__typename": "Query"}}
    assert is_unknown(await send(None, None, hash_of(text)))


async def test_a_hash_that_is_not_the_documents_is_refused_and_nothing_kept(send, tenant):
    (error,) = (await send(tenant.token, "{ __typename }"))["errors"]
    (entry,) = error["extensions"]["detail"]
    assert entry["loc"] == ["extensions", "persistedQuery", "sha256Hash"]
    assert is_unknown(await send(tenant.token))


@pytest.mark.parametrize(
    "sent",
    [7, "x", [], {"version": 2}, {"sha256Hash": 7}, {"sha256Hash": "ab"}, {"sha256Hash": "A" * 64}],
    ids=str,
)
@pytest.mark.parametrize("text", [None, DOCUMENT], ids=["without document", "with document"])
async def test_persisted_queries_of_another_form_are_refused(gateway, sent, text):
    body = {"query": text, "extensions": {"persistedQuery": sent}}
    (error,) = (await gateway.client.post("/graphql", json=body)).json()["errors"]
    (entry,) = error["extensions"]["detail"]
    assert entry["loc"][:2] == ["extensions", "persistedQuery"]


async def test_kept_documents_are_bounded_in_bytes(monkeypatch, send, tenant):
    one = persisted.BYTES_OF_AN_ENTRY + 4 * len(DOCUMENT)
    keep_up_to(monkeypatch, 2 * one, 2 * one)
    texts = [DOCUMENT.replace("Named", f"Name{n}") for n in range(3)]
    for text in texts:
        await send(tenant.token, text, hash_of(text))
    assert is_unknown(await send(tenant.token, None, hash_of(texts[0])))
    assert await send(tenant.token, None, hash_of(texts[2])) == EMPTY


async def test_many_documents_of_one_caller_push_out_only_its_own(gateway, monkeypatch, send, tenant):
    other = await make_tenant(gateway)
    one = persisted.BYTES_OF_AN_ENTRY + 4 * len(DOCUMENT)
    keep_up_to(monkeypatch, 4 * one, 2 * one)
    await send(other.token, DOCUMENT)
    texts = [DOCUMENT.replace("Named", f"Name{n}") for n in range(6)]
    for text in texts:
        await send(tenant.token, text, hash_of(text))
    assert await send(other.token) == EMPTY
    assert is_unknown(await send(tenant.token, None, hash_of(texts[3])))
    for text in texts[4:]:
        assert await send(tenant.token, None, hash_of(text)) == EMPTY


async def test_a_customer_does_not_share_the_documents_of_its_workspace(gateway, send, tenant):
    assert await send(tenant.token, DOCUMENT) == EMPTY
    (error,) = (await send(await make_customer_token(gateway, tenant)))["errors"]
    assert error["message"] == "PersistedQueryNotFound"


async def test_a_kept_request_by_hash_counts_the_document_that_it_holds(gateway, send, tenant, monkeypatch):
    sizes = []
    kept = Cache(requests.BYTES_KEPT)
    monkeypatch.setattr(requests, "_kept", kept)
    for text in (DOCUMENT, DOCUMENT + "#" * 4_000):
        await send(tenant.token, text, hash_of(text))
        for _ in range(3):
            await send(tenant.token, digest=hash_of(text))
        sizes.append(kept.size)
    short, both = sizes
    assert both - short >= short + 4 * 4_000
