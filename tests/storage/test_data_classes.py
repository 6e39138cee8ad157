"""The classes of data: each column has one, and what each class promises is kept."""

import re
import sqlite3
from pathlib import Path
from uuid import uuid4

import pytest_asyncio
from sqlalchemy import JSON, LargeBinary, String

from storage.retention.data_classes import CLASSES, PROTECTIONS, DataClass
from storage.tables.registry import METADATA
from storage.upkeep.resealing import SEALED
from tests.second_factors.acting import add_totp, recovery_codes, session_in, signed_in
from tests.support.browsers.browsing import PASSWORD, browsing
from tests.support.callers.surfaces import Rest
from tests.support.callers.world import OAUTH_CLIENT
from tests.support.mails.mailed import latest_code, mails_to
from tests.support.servers.gateways import make_tenant, run_gateway
from tests.support.tenants.membership import make_member

CUSTOMER = "a.customer@example.com"

# The forms of what a secret column may hold: digests in hex or base64, argon2, sealed texts.
PROTECTED = re.compile(r"[0-9a-f]{64}|[\w-]{43}|\$argon2id\$.+|A256GCM\.[0-9a-f]{8}\.[\w+/]+=*|\w+:[\w-]{43}")


def test_each_column_that_may_hold_a_text_has_one_class():
    texts = {
        (table.name, column.name)
        for table in METADATA.sorted_tables
        for column in table.columns
        if isinstance(column.type, (String, JSON, LargeBinary))
        or isinstance(getattr(column.type, "impl", None), (String, JSON, LargeBinary))
    }
    classified = [(table, column) for table, column, _ in CLASSES]
    assert len(classified) == len(set(classified))
    assert set(classified) == texts
    assert PROTECTIONS.keys() == set(DataClass)


def test_what_the_secret_key_seals_is_sealed_anew_by_a_new_one():
    # The others are sealed by the token of the caller, or go within the hour.
    sealed = {(each.row.__tablename__, each.column) for each in SEALED}
    secret = {(table, column) for table, column, each in CLASSES if each is DataClass.SECRET}
    assert sealed <= secret
    kept = {(table, column) for table, column in secret if column in ("sealed", "private_key")}
    assert kept - sealed == {("idempotency_keys", "sealed"), ("refresh_answers", "sealed")}


class Kept:
    """What a file of SQLite has in each column."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def values(self, table: str, column: str) -> list[str]:
        with sqlite3.connect(self._path) as connection:
            rows = connection.execute(f'SELECT "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL')
            return [str(value) for (value,) in rows]

    def everything(self) -> dict[tuple[str, str], str]:
        """What each column has, in small letters."""
        places = [(table.name, column.name) for table in METADATA.sorted_tables for column in table.columns]
        return {place: " ".join(self.values(*place)).casefold() for place in places}

    def places_of(self, text: str) -> set[tuple[str, str]]:
        """The columns of any class with this text in any case."""
        return {place for place, texts in self.everything().items() if text.casefold() in texts}


@pytest_asyncio.fixture
async def own(tmp_path):
    path = tmp_path / "duograph.sqlite"
    settings = {"base_url": "https://gateway/api"}
    async for gateway in run_gateway(f"sqlite+aiosqlite:///{path}", tmp_path, **settings):
        yield gateway, Kept(path)


async def test_secrets_are_in_no_column_as_they_are(own):
    gateway, kept = own
    tenant = await make_tenant(gateway)
    user = Rest(gateway.client, gateway.app, tenant.personal_token)
    asked = {"workspace_id": tenant.id, "comment": "For the shop", "scopes": ["shares:read"]}
    made = await user.with_headers(Idempotency_Key=uuid4().hex).create_workspace_access_token(data=asked)
    client = await user.create_oauth_client(data=OAUTH_CLIENT)
    customer = await user.create_customer(data={"workspace_id": tenant.id, "email": CUSTOMER})
    opened = await user.create_customer_session(data={"customer_id": customer["id"]})
    await user.request_portal_code(data={"slug": tenant.slug, "email": CUSTOMER})
    code = await latest_code(gateway, CUSTOMER)
    async with signed_in(gateway, tenant) as account:
        app = await add_totp(account)
        secrets = {
            *(tenant.token, tenant.personal_token, made["token"], client["client_secret"], opened["token"]),
            *(PASSWORD, code, app.secret, session_in(account), *recovery_codes(account.page)),
        }
    mails = {("mails", column.name) for column in METADATA.tables["mails"].columns}
    columns = {place: texts for place, texts in kept.everything().items() if place not in mails}
    assert [
        place for place, texts in columns.items() if any(one.casefold() in texts for one in secrets)
    ] == []


async def test_a_secret_column_holds_digests_and_sealed_texts_only(own):
    gateway, kept = own
    tenant = await make_tenant(gateway)
    user = Rest(gateway.client, gateway.app, tenant.personal_token)
    asked = {"comment": "For me", "scopes": ["shares:read"]}
    await user.with_headers(Idempotency_Key=uuid4().hex).create_personal_access_token(data=asked)
    await user.create_customer(data={"workspace_id": tenant.id, "email": CUSTOMER})
    await user.request_portal_code(data={"slug": tenant.slug, "email": CUSTOMER})
    await latest_code(gateway, CUSTOMER)
    async with signed_in(gateway, tenant) as account:
        await add_totp(account)
    async with browsing(gateway, "https://gateway") as browser:
        await browser.sign_in(tenant.user_email, "not the password")
        await browser.sign_in(tenant.user_email)
    secret = [(table, column) for table, column, each in CLASSES if each is DataClass.SECRET]
    filled = {place: kept.values(*place) for place in secret if kept.values(*place)}
    assert len(filled) >= 9
    open_texts = [
        (place, text) for place, texts in filled.items() for text in texts if not PROTECTED.fullmatch(text)
    ]
    assert open_texts == []


async def test_nothing_personal_of_an_anonymized_customer_is_left(own):
    gateway, kept = own
    tenant = await make_tenant(gateway)
    workspace = Rest(gateway.client, gateway.app, tenant.token)
    marker = f"zq{uuid4().hex}"
    address = {"line1": f"{marker} street", "city": marker, "country": "GB"}
    customer = await workspace.create_customer(
        data={
            "type": "team",
            "email": f"{marker}@example.com",
            "name": marker,
            "billing_address": address,
            "metadata": {"note": marker},
            "owner": {"name": marker, "email": f"own.{marker}@example.com"},
        }
    )
    other = {"customer_id": customer["id"], "email": f"bo.{marker}@example.com", "name": marker}
    await workspace.create_member(data=other)
    event = {"name": "opened", "customer_id": customer["id"], "metadata": {"who": f"{marker}@example.com"}}
    await workspace.ingest_events(data={"events": [event]})
    personal = {(table, column) for table, column, each in CLASSES if each is DataClass.PERSONAL}
    assert {("customers", "email"), ("members", "name"), ("events", "metadata")} <= set(
        kept.places_of(marker)
    )
    assert kept.places_of(marker) <= personal
    await workspace.delete_customer(id=customer["id"], anonymize=True)
    assert kept.places_of(marker) == set()


async def test_nothing_personal_of_a_deleted_user_is_left(own):
    gateway, kept = own
    tenant = await make_tenant(gateway)
    await make_member(gateway, tenant, "owner")
    marker = tenant.user_email.partition("@")[0]
    async with signed_in(gateway, tenant) as account:
        await account.open("/account")
        await account.press("Save name", name=f"{marker} by name")
        # The workspace has this text as its slug too.
        before = kept.places_of(marker) - {("workspaces", "slug")}
        personal = {(table, column) for table, column, each in CLASSES if each is DataClass.PERSONAL}
        assert {("users", "email"), ("users", "name"), ("workspace_members", "email")} <= before <= personal
        await account.press("Delete my account")
    assert "Your account was deleted" in [mail.subject for mail in await mails_to(gateway, tenant.user_email)]
    after = {(table, column) for table, column in kept.places_of(marker) if table != "mails"}
    assert after == {("workspaces", "slug")}
