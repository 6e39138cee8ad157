"""Coming into the portal by a mailed code, from outside: over GraphQL and REST, on both databases."""

import re
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from oauth.credentials import kind_of
from storage.clock import now
from storage.enums import CredentialKind
from storage.rows.rows import table_of
from storage.tables.customers.portal_codes import PortalCodeRow
from tests.support.callers.refusals import refusal, refused
from tests.support.callers.surfaces import Refused
from tests.support.mails.portal_codes import change_codes, let_grow

_codes = table_of(PortalCodeRow)


async def test_a_mailed_code_opens_a_session_of_an_hour(entrance, anyone, tenant, customer, address):
    token = await entrance.enter(address)
    assert kind_of(token["token"]) == CredentialKind.CUSTOMER_SESSION
    session = await anyone.with_token(token["token"]).get_portal_session()
    assert session["customer_id"] == customer["id"]
    assert (session["return_url"], session["member"]) == (None, None)
    assert session["expires_at"] == token["expires_at"]
    assert (session["workspace"]["slug"], session["workspace"]["name"]) == (tenant.slug, "Acme")


async def test_entering_with_the_customers_own_address_verifies_it(surface, entrance, customer, address):
    code = await entrance.code(address)
    assert not (await surface.get_customer(id=customer["id"]))["email_verified"]
    await entrance.enter(address, code)
    verified = await surface.get_customer(id=customer["id"])
    assert verified["email_verified"]
    assert verified["modified_at"] is not None


async def test_entering_with_a_members_address_opens_the_members_session(surface, entrance, team, address):
    bo = next(member for member in team["members"] if member["role"] == "member")
    session = await (await entrance.portal(bo["email"])).get_portal_session()
    assert (session["customer_id"], session["member"]["id"]) == (team["id"], bo["id"])
    assert not (await surface.get_customer(id=team["id"]))["email_verified"]


async def test_a_team_that_enters_with_its_own_address_is_its_owner(entrance, team, address):
    session = await (await entrance.portal(address)).get_portal_session()
    assert session["member"]["role"] == "owner"


async def test_case_and_spaces_of_address_and_code_do_not_count(entrance, customer, address):
    await entrance.request(address.upper())
    code = await entrance.latest(address)
    spaced = f" {code[:3].lower()} {code[3:].lower()} "
    assert (await entrance.enter(address, spaced))["token"]


async def test_the_workspace_can_be_named_by_its_id(entrance, anyone, tenant, customer, address):
    data = {"email": address, "workspace_id": tenant.id}
    await anyone.request_portal_code(data=data)
    code = await entrance.latest(address)
    assert (await anyone.authenticate_portal_code(data=data | {"code": code}))["token"]


async def test_the_mail_names_the_portal_and_the_page_for_the_code(entrance, tenant, customer, address):
    await entrance.request(address)
    (mail,) = await entrance.mails(address)
    assert "portal of Acme" in mail.text
    assert f"http://gateway/{tenant.slug}/portal within 30 minutes" in mail.text


async def test_an_unknown_address_is_answered_alike_and_mailed_nothing(entrance, anyone, tenant, customer):
    stranger = f"nobody-{uuid4().hex}@example.com"
    known, unknown = [
        await anyone.ask("request_portal_code", {"data": {"email": email, "slug": tenant.slug}})
        for email in (customer["email"], stranger)
    ]
    assert known.value == unknown.value
    assert set(known.headers) == set(unknown.headers)
    assert await entrance.mails(stranger) == []


async def test_nothing_is_looked_up_or_written_before_the_answer_has_gone(
    entrance, gateway, tenant, customer, address
):
    """So the time it takes cannot tell whether the address is known."""
    before_answer = []

    async def send(message):
        if message["type"] == "http.response.body":
            before_answer.append(len(await entrance.mails(address)))

    body = f'{{"email": "{address}", "slug": "{tenant.slug}"}}'.encode()

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/api/customer-portal/customer-session/request",
        "raw_path": b"",
        "query_string": b"",
        "headers": [(b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "server": ("gateway", 80),
    }
    await gateway.app(scope, receive, send)
    assert before_answer == [0]
    assert len(await entrance.mails(address)) == 1


async def test_a_visitor_has_ten_codes_an_hour_mailed_to_an_address(
    entrance, gateway, tenant, customer, address
):
    for _ in range(12):
        await entrance.request(address)
        await let_grow(gateway, tenant)
    assert len(await entrance.mails(address)) == 10
    assert (await entrance.enter(address, await entrance.latest(address)))["token"]
    await change_codes(gateway, tenant, created_at=now() - timedelta(hours=1, seconds=1))
    await entrance.request(address)
    assert len(await entrance.mails(address)) == 11


async def test_a_stranger_who_asks_too_often_does_not_keep_the_customer_out(
    entrance, gateway, tenant, customer, address
):
    async with entrance.elsewhere() as stranger:
        for _ in range(12):
            await stranger.request(address)
            await let_grow(gateway, tenant)
    code = await entrance.code(address)
    assert len(await entrance.mails(address)) == 11
    assert (await entrance.enter(address, code))["token"]


async def test_a_stranger_cannot_replace_the_code_that_the_customer_types(
    entrance, tenant, customer, address
):
    code = await entrance.code(address)
    async with entrance.elsewhere() as stranger:
        answers = [
            await who.anyone.ask("request_portal_code", {"data": {"email": address, "slug": tenant.slug}})
            for who in (stranger, entrance)
        ]
    assert answers[0].value == answers[1].value
    assert len(await entrance.mails(address)) == 1
    assert (await entrance.enter(address, code))["token"]
    await entrance.request(address)
    assert len(await entrance.mails(address)) == 2


async def test_what_is_kept_holds_neither_address_nor_code(entrance, gateway, tenant, customer, address):
    code = await entrance.code(address)
    async with gateway.database.read() as connection:
        found = await connection.execute(select(_codes).where(_codes.c.workspace_id == UUID(tenant.id)))
        (row,) = found.mappings().all()
    assert address not in str(dict(row))
    assert code not in {row["hash"], row["recipient"]}
    assert re.fullmatch("[A-Za-z0-9_-]{43}", row["hash"])


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        ({"email": "ada"}, {("email",): "email"}),
        ({"slug": None}, {("workspace_id",): "missing"}),
        ({"workspace_id": "00000000-0000-4000-8000-000000000000"}, {("workspace_id",): "conflict"}),
        ({"colour": "red"}, {("colour",): "extra_forbidden"}),
        ({"code": "A" * 65}, {("code",): "string_too_long"}),
        ({"code": 123456}, {("code",): "string_type"}),
        ({"code": "A\x00"}, {("code",): "string_nul"}),
    ],
)
async def test_bad_input_is_named(anyone, tenant, change, problems):
    data = {"email": "ada@example.com", "slug": tenant.slug, "code": "ABCDEF"} | change
    assert await refusal(anyone.authenticate_portal_code(data=data)) == problems


async def test_a_refused_code_is_not_repeated(anyone, tenant):
    data = {"email": "ada@example.com", "slug": tenant.slug, "code": 234567}
    with pytest.raises(Refused) as refused:
        await anyone.authenticate_portal_code(data=data)
    assert "input" not in refused.value.detail[0]


async def test_an_unknown_workspace_is_not_found(anyone):
    data = {"email": "ada@example.com", "slug": f"w-{uuid4().hex}"}
    for call in (
        anyone.request_portal_code(data=data),
        anyone.authenticate_portal_code(data=data | {"code": "ABCDEF"}),
    ):
        await refused(call, 404, "not_found")
