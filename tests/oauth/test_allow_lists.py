"""OAuth clients that may send registered GraphQL documents only, or are told which others they send."""

import json
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from resolvers.credentials import oauth_client_documents
from schema.credentials.oauth_client_documents import LONGEST_DOCUMENT, MOST_AT_ONCE
from storage.usage import document_counts
from tests.support.callers.refusals import refusal, refused
from tests.support.callers.surfaces import Refused
from tests.support.tenants.allow_lists import JSON, NAMES, OTHER, RESPONSE_JSON, hash_of, make_sender
from tests.support.tenants.applications import make_application
from tests.support.tenants.membership import make_member


@pytest_asyncio.fixture
async def sender(gateway, surface, tenant):
    return await make_sender(gateway, surface, tenant)


def is_answered(answer: Any) -> bool:
    return answer.status_code == 200 and answer.json() == {"data": {"shares": {"data": []}}}


def is_refused(answer: Any, status: int = 200) -> bool:
    (error,) = answer.json()["errors"]
    assert error["extensions"]["code"] == "document_not_registered"
    assert "register" in error["message"]
    assert "data" not in answer.json()
    return answer.status_code == status


async def test_a_client_sends_any_document_unless_its_owners_say_otherwise(sender):
    assert is_answered(await sender.send())
    assert await sender.listed() == []


async def test_a_registered_document_has_its_hash_and_its_root_fields(sender):
    (made,) = await sender.register(NAMES, name="Names")
    assert made == (await sender.listed())[0]
    expected = {
        "oauth_client_id": sender.id,
        "hash": hash_of(NAMES),
        "is_registered": True,
        "name": "Names",
        "text": NAMES,
        "root_fields": ["shares"],
        "requests": 0,
        "last_used_at": None,
    }
    assert expected.items() <= made.items()


async def test_a_document_has_so_many_bytes_and_not_letters(sender):
    most = NAMES + "#" + "é" * ((LONGEST_DOCUMENT - len(NAMES)) // 2 - 1)
    await sender.register(most)
    assert await refusal(sender.register(most + "éé")) == {("documents", 0, "text"): "document_size"}


async def test_a_document_registered_again_is_renamed_and_not_listed_twice(sender):
    (first,) = await sender.register(NAMES, name="Names")
    again = await sender.register(NAMES, OTHER, NAMES, name="Both")
    assert [document["id"] for document in again] == [first["id"], again[1]["id"], first["id"]]
    assert {document["name"] for document in await sender.listed()} == {"Both"}


async def test_report_runs_other_documents_and_lists_what_the_schema_calls_their_fields(sender):
    await sender.mode("report")
    await sender.register(NAMES)
    for _ in range(3):
        assert (await sender.send(OTHER)).json() == {"data": {"found": {"data": []}}}
    assert is_answered(await sender.send(NAMES))
    (other,) = await sender.listed(is_registered=False)
    assert (other["hash"], other["requests"], other["root_fields"]) == (hash_of(OTHER), 3, ["shares"])
    assert (other["text"], other["name"]) == (None, None)
    assert other["last_used_at"] is not None
    assert "typed" not in json.dumps(other)
    (names,) = await sender.listed(is_registered=True)
    assert names["requests"] == 1


async def test_registering_a_reported_document_keeps_its_count(sender):
    await sender.mode("report")
    await sender.send(NAMES)
    (reported,) = await sender.listed()
    (registered,) = await sender.register(NAMES)
    assert registered["id"] == reported["id"]
    assert (registered["requests"], registered["is_registered"]) == (1, True)
    await sender.send(NAMES)
    assert [document["requests"] for document in await sender.listed()] == [2]


async def test_an_invalid_document_is_listed_without_a_name_of_its_own(sender):
    await sender.mode("report")
    assert "errors" in (await sender.send("{ secretsOfTheUser }")).json()
    (listed,) = await sender.listed()
    assert listed["root_fields"] == []


@pytest.mark.parametrize(("accept", "status"), [(JSON, 200), (RESPONSE_JSON, 403)])
async def test_enforce_refuses_other_documents_by_post_and_by_get(sender, accept, status):
    await sender.register(NAMES)
    assert is_answered(await sender.send(OTHER.replace("found: ", "").replace("label: ", "")))
    await sender.mode("enforce")
    assert is_answered(await sender.send(NAMES, accept=accept))
    assert is_answered(await sender.get(NAMES, accept=accept))
    for text in (OTHER, NAMES + " ", "{ shares { data { name } } }"):
        for _ in range(2):
            assert is_refused(await sender.send(text, accept=accept), status)
            assert is_refused(await sender.get(text, accept=accept), status)
    (other,) = await sender.listed(hash=[hash_of(OTHER)])
    assert (other["requests"], other["root_fields"]) == (4, [])


@pytest.mark.parametrize(("accept", "status"), [(JSON, 200), (RESPONSE_JSON, 403)])
async def test_a_registered_document_may_be_sent_by_its_hash_alone(sender, accept, status):
    await sender.register(NAMES)
    for mode in ("report", "enforce"):
        await sender.mode(mode)
        for _ in range(2):
            assert is_answered(await sender.send(None, hash=hash_of(NAMES), accept=accept))
            assert is_answered(await sender.get(hash=hash_of(NAMES), accept=accept))
    assert is_refused(await sender.send(None, hash=hash_of(OTHER), accept=accept), status)
    assert is_refused(await sender.get(hash=hash_of(OTHER), accept=accept), status)


async def test_an_unknown_hash_is_asked_for_unless_sending_it_would_not_help(sender):
    await sender.mode("report")
    (error,) = (await sender.send(None, hash=hash_of(OTHER))).json()["errors"]
    assert error["message"] == "PersistedQueryNotFound"
    # Sent with its document in report, it is known by its hash, and refused later all the same.
    await sender.send(OTHER, hash=hash_of(OTHER))
    await sender.mode("enforce")
    assert is_refused(await sender.send(None, hash=hash_of(OTHER)))
    assert is_refused(await sender.send(OTHER, hash=hash_of(OTHER)))


async def test_changes_hold_from_the_next_request_on(sender):
    await sender.mode("enforce")
    assert is_refused(await sender.send())
    (registered,) = await sender.register(NAMES)
    assert is_answered(await sender.send())
    await sender.surface.delete_oauth_client_document(id=registered["id"])
    assert is_refused(await sender.send())
    await sender.mode("off")
    assert is_answered(await sender.send())


async def test_other_clients_and_tokens_are_not_restricted(gateway, sender, tenant):
    await sender.mode("enforce")
    other = await make_application(gateway, UUID(tenant.id), UUID(tenant.user_id))
    tokens = await other.tokens(tenant, scope="shares:read")
    for token in (tokens["access_token"], tenant.token, tenant.personal_token):
        sender.token = token
        assert is_answered(await sender.send())
        (error,) = (await sender.send(None, hash=hash_of("{ none }"))).json()["errors"]
        assert error["message"] == "PersistedQueryNotFound"


async def test_a_registered_document_is_known_to_its_client_only(gateway, sender, tenant):
    await sender.register(NAMES)
    await sender.mode("enforce")
    assert is_answered(await sender.send(None, hash=hash_of(NAMES)))
    sender.token = tenant.token
    (error,) = (await sender.send(None, hash=hash_of(NAMES))).json()["errors"]
    assert error["message"] == "PersistedQueryNotFound"


async def test_a_broken_document_and_too_many_are_refused_at_their_place(sender, monkeypatch):
    assert await refusal(sender.register(NAMES, "{ shares { ")) == {("documents", 1, "text"): "document"}
    with pytest.raises(Refused):
        await sender.register(*(f"{{ a{n} }}" for n in range(MOST_AT_ONCE + 1)))
    monkeypatch.setattr(oauth_client_documents, "MOST_REGISTERED", 2)
    await sender.register("{ a }", "{ b }")
    assert await refusal(sender.register("{ c }")) == {("documents",): "too_many_documents"}
    assert len(await sender.listed()) == 2


async def test_a_wider_client_cannot_be_given_documents(gateway, sender, caller, tenant):
    token = await sender.surface.create_workspace_access_token(
        data={"comment": "narrow", "scopes": ["oauth_clients:write"]}
    )
    sender.surface = caller(token["token"])
    assert await refusal(sender.register(NAMES)) == {("id",): "wider"}


async def test_only_owners_see_and_manage_the_documents(gateway, sender, caller, tenant):
    (registered,) = await sender.register(NAMES)
    member = await make_member(gateway, tenant)
    sender.surface = caller(member.token)
    assert await sender.listed() == []
    await refused(sender.register(OTHER), 403, "not_permitted")
    await refused(sender.surface.delete_oauth_client_document(id=registered["id"]), 404, "not_found")


async def test_the_documents_of_a_deleted_client_are_gone(sender, gateway):
    await sender.mode("report")
    await sender.register(NAMES)
    await sender.send(OTHER)
    await sender.surface.delete_oauth_client(id=sender.id)
    assert await sender.listed() == []
    async with gateway.database.read() as connection:
        table = document_counts._table
        rows = await connection.execute(table.select().where(table.c.oauth_client_id == UUID(sender.id)))
        assert rows.all() == []
