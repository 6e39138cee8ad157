"""Customer sessions, from outside: every case runs over GraphQL and over REST, on both databases."""

from datetime import datetime, timedelta
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from oauth.credentials import digest, kind_of
from oauth.scopes import CUSTOMER_SCOPES, WORKSPACE_SCOPES, Scope
from resolvers.credentials.tokens import issue_token
from storage.clock import now
from storage.enums import CredentialKind
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow
from tests.support.callers.refusals import UNKNOWN_ID, refusal, refused
from tests.support.callers.surfaces import Refused
from tests.support.measures.spans import span
from tests.support.servers.gateways import make_token
from tests.support.tenants.membership import join_too


@pytest.fixture
async def customer(surface):
    return await surface.create_customer(data={"email": "ada@example.com", "external_id": "c-1"})


@pytest.fixture
async def team(surface):
    owner = {"email": "owner@example.com", "external_id": "m-1"}
    data = {"email": "team@example.com", "type": "team", "owner": owner}
    return await surface.create_customer(data=data)


async def credential(gateway, session):
    """The row that the session's token is found by."""
    table = table_of(CredentialRow)
    async with gateway.database.read() as connection:
        found = await connection.execute(select(table).where(table.c.hash == digest(session["token"])))
        return dict(found.mappings().one())


async def test_a_session_lets_its_customer_in_for_an_hour(surface, gateway, tenant, customer):
    with span() as creating:
        session = await surface.create_customer_session(
            data={"customer_id": customer["id"], "return_url": "https://shop.example/?a=b#c"}
        )
    assert session["customer_id"] == customer["id"]
    assert session["return_url"] == "https://shop.example/?a=b#c"
    assert session["modified_at"] is None
    assert kind_of(session["token"]) == CredentialKind.CUSTOMER_SESSION
    assert datetime.fromisoformat(session["created_at"]) in creating
    assert datetime.fromisoformat(session["expires_at"]) in creating + timedelta(hours=1)

    portal = urlsplit(session["customer_portal_url"])
    assert f"{portal.scheme}://{portal.netloc}{portal.path}" == f"http://gateway/{tenant.slug}/portal"
    assert parse_qs(portal.query) == {"customer_session_token": [session["token"]]}

    row = await credential(gateway, session)
    assert (str(row["id"]), str(row["customer_id"])) == (session["id"], customer["id"])
    assert (str(row["workspace_id"]), row["member_id"]) == (tenant.id, None)
    assert set(row["scopes"]) == {scope.value for scope in CUSTOMER_SCOPES}


async def test_the_customer_comes_without_members_over_rest(surface, customer):
    session = await surface.create_customer_session(data={"customer_id": customer["id"]})
    expected = dict(customer)
    if surface.name == "rest":
        del expected["members"]
    assert session["customer"] == expected
    assert session["return_url"] is None


async def test_a_customer_can_be_named_by_the_callers_own_id(surface, customer):
    session = await surface.create_customer_session(data={"external_customer_id": "c-1"})
    assert session["customer_id"] == customer["id"]


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        ({}, {("customer_id",): "missing"}),
        ({"customer_id": None}, {("customer_id",): "missing"}),
        ({"customer_id": UNKNOWN_ID, "external_customer_id": "c-1"}, {("customer_id",): "conflict"}),
        ({"customer_id": UNKNOWN_ID}, {("customer_id",): "not_found"}),
        ({"external_customer_id": "c-2"}, {("external_customer_id",): "not_found"}),
        ({"customer_id": 5, "external_customer_id": 5}, {("external_customer_id",): "string_type"}),
        (
            {"external_customer_id": "c-1", "member_id": UNKNOWN_ID, "external_member_id": "m-1"},
            {("member_id",): "conflict"},
        ),
        (
            {"external_customer_id": "c-1", "return_url": "javascript:alert(1)", "colour": "red"},
            {("return_url",): "url_scheme", ("colour",): "extra_forbidden"},
        ),
        ({"external_customer_id": "c-1", "return_url": ""}, {("return_url",): "string_too_short"}),
        (
            {"external_customer_id": "c-1", "return_url": "https://a.example/" + "a" * 2083},
            {("return_url",): "string_too_long"},
        ),
    ],
)
async def test_what_a_session_needs_is_named_at_its_place(surface, customer, data, problems):
    refused = await refusal(surface.create_customer_session(data=data))
    assert refused.items() >= problems.items()


async def test_a_member_cannot_be_named_while_the_workspace_has_no_member_model(surface, team):
    (owner,) = team["members"]
    for field, value in (("member_id", owner["id"]), ("external_member_id", "m-1")):
        call = surface.create_customer_session(data={"customer_id": team["id"], field: value})
        assert await refusal(call) == {(field,): "member_model_disabled"}


async def test_a_teams_session_is_its_owners_unless_a_member_is_named(surface, gateway, team, member_model):
    (owner,) = team["members"]
    bob = await surface.create_member(
        data={"customer_id": team["id"], "email": "bob@example.com", "external_id": "m-2"}
    )
    expected = [
        ({}, owner),
        ({"member_id": bob["id"]}, bob),
        ({"external_member_id": "m-2"}, bob),
        ({"external_member_id": "m-1"}, owner),
    ]
    for named, member in expected:
        session = await surface.create_customer_session(data={"customer_id": team["id"], **named})
        assert str((await credential(gateway, session))["member_id"]) == member["id"]


async def test_another_customers_member_is_unknown(surface, customer, team, member_model):
    (stranger,) = customer["members"]
    for field, value in (("member_id", stranger["id"]), ("external_member_id", "m-9")):
        call = surface.create_customer_session(data={"customer_id": team["id"], field: value})
        assert await refusal(call) == {(field,): "not_found"}


async def test_a_deleted_members_sessions_end_at_once(surface, gateway, team, member_model):
    bob = await surface.create_member(data={"customer_id": team["id"], "email": "bob@example.com"})
    theirs = {"customer_id": team["id"], "member_id": bob["id"]}
    session = await surface.create_customer_session(data=theirs)
    owners = await surface.create_customer_session(data={"customer_id": team["id"]})
    await surface.delete_member(id=bob["id"])
    assert (await credential(gateway, session))["revoked_at"] is not None
    assert (await credential(gateway, owners))["revoked_at"] is None
    assert await refusal(surface.create_customer_session(data=theirs)) == {("member_id",): "not_found"}


async def test_another_workspaces_customer_is_unknown(surface, customer, other_tenant):
    other = surface.with_token(other_tenant.token)
    call = other.create_customer_session(data={"customer_id": customer["id"]})
    assert await refusal(call) == {("customer_id",): "not_found"}
    await refused(
        other.create_customer_session(
            data={"customer_id": customer["id"], "workspace_id": customer["workspace_id"]}
        ),
        404,
        "not_found",
    )


async def test_a_caller_with_two_workspaces_names_one_for_an_external_id(
    surface, gateway, tenant, other_tenant, customer
):
    await join_too(gateway, tenant, other_tenant)
    person = surface.with_token(tenant.personal_token)
    unnamed = person.create_customer_session(data={"external_customer_id": "c-1"})
    assert await refusal(unnamed) == {("workspace_id",): "missing"}
    named = {"external_customer_id": "c-1", "workspace_id": tenant.id}
    assert (await person.create_customer_session(data=named))["customer_id"] == customer["id"]
    elsewhere = person.create_customer_session(data=named | {"workspace_id": other_tenant.id})
    assert await refusal(elsewhere) == {("external_customer_id",): "not_found"}


async def test_a_session_ends_no_later_than_the_credential_that_made_it(surface, gateway, tenant, customer):
    async with gateway.database.write() as connection:
        short, row = await issue_token(
            connection,
            CredentialKind.WORKSPACE_TOKEN,
            WORKSPACE_SCOPES,
            workspace_id=UUID(tenant.id),
            expires_in=timedelta(minutes=5),
        )
    session = await surface.with_token(short.text).create_customer_session(
        data={"customer_id": customer["id"]}
    )
    assert now() < datetime.fromisoformat(session["expires_at"]) <= row.expires_at


async def test_a_retry_gets_the_same_token_and_another_credential_does_not(
    surface, gateway, tenant, customer
):
    once = surface.with_headers(idempotency_key=uuid4().hex)
    data = {"customer_id": customer["id"]}
    first = await once.create_customer_session(data=data)
    again = await once.ask("create_customer_session", {"data": data})
    assert (again.value["token"], again.value["id"]) == (first["token"], first["id"])
    assert again.headers["idempotency-replayed"] == "true"
    other = once.with_token(await make_token(gateway, tenant, Scope.CUSTOMER_SESSIONS_WRITE))
    await refused(other.create_customer_session(data=data), 409, "idempotency_conflict")


async def test_a_session_needs_its_scope_and_a_customer_cannot_make_one(surface, gateway, tenant, customer):
    data = {"customer_id": customer["id"]}
    lesser = surface.with_token(await make_token(gateway, tenant, Scope.CUSTOMERS_WRITE))
    with pytest.raises(Refused, match=r"insufficient_scope.*`customer_sessions:write`"):
        await lesser.create_customer_session(data=data)
    session = await surface.create_customer_session(data=data)
    await refused(
        surface.with_token(session["token"]).create_customer_session(data=data), 403, "not_permitted"
    )
