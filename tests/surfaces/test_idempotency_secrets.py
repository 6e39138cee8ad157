"""Attacks on the secrets that are kept for retries, by a reader or writer of the database."""

from base64 import b64decode
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select, update

from oauth.scopes import WORKSPACE_SCOPES
from storage.clock import now
from storage.enums import CredentialKind
from storage.retention.deletion import delete_ended
from storage.retention.rules import RULES
from storage.rows.rows import table_of
from storage.tables.idempotency_keys import IdempotencyKeyRow
from tests.support.callers.refusals import refused
from tests.support.servers.gateways import issue

TOKEN = {"comment": "The report", "scopes": ["shares:read"], "expires_in": None}
keys = table_of(IdempotencyKeyRow)


@pytest.fixture
def key():
    return uuid4().hex


@pytest.fixture
def once(surface, key):
    return surface.with_headers(Idempotency_Key=key)


async def sealed_rows(gateway, key):
    wanted = select(keys).where(keys.c.key == key).order_by(keys.c.created_at, keys.c.operation)
    async with gateway.database.read() as connection:
        return [dict(row) for row in (await connection.execute(wanted)).mappings()]


def content_of(row):
    """The nonce and the rest of a sealed text, after its algorithm and the id of its key."""
    return b64decode(row["sealed"].split(".")[2])


async def overwrite(gateway, row, **values):
    same = (keys.c.subject == row["subject"]) & (keys.c.operation == row["operation"])
    async with gateway.database.write() as connection:
        await connection.execute(update(keys).where(same, keys.c.key == row["key"]).values(**values))


async def make_customer(surface):
    data = {"email": f"{uuid4().hex}@example.com"}
    return (await surface.create_customer(data=data))["id"]


async def test_a_secret_cannot_be_read_with_the_keystream_of_another_under_the_same_key(
    surface, once, key, gateway
):
    """A customer knows one of the answers; that of the other operation has the same Idempotency-Key."""
    customer_id = await make_customer(surface)
    await once.create_customer_session(data={"customer_id": customer_id})
    made = await once.create_workspace_access_token(data=TOKEN)
    one, other = (content_of(row) for row in await sealed_rows(gateway, key))
    assert one[:12] != other[:12]
    known = b'{"token":"dg_'
    for shift in (0, 12):
        pairs = zip(one[shift:], other[shift:], strict=False)
        keystream_reused = bytes(a ^ b for a, b in pairs)[: len(known)] == bytes(len(known))
        assert not keystream_reused
    assert made["token"] not in str(await sealed_rows(gateway, key))


async def test_one_secret_sealed_again_under_its_key_has_another_nonce(once, key, gateway):
    await once.create_workspace_access_token(data=TOKEN)
    (first,) = await sealed_rows(gateway, key)
    await overwrite(gateway, first, created_at=now() - timedelta(hours=25))
    await once.create_workspace_access_token(data=TOKEN)
    (second,) = await sealed_rows(gateway, key)
    assert content_of(first)[:12] != content_of(second)[:12]


async def test_a_sealed_secret_is_not_shown_to_a_retry_under_another_key(surface, once, key, gateway):
    made = await once.create_workspace_access_token(data=TOKEN)
    elsewhere = uuid4().hex
    again = surface.with_headers(Idempotency_Key=elsewhere)
    await again.create_workspace_access_token(data=TOKEN)
    (row,) = await sealed_rows(gateway, key)
    (moved,) = await sealed_rows(gateway, elsewhere)
    await overwrite(gateway, moved, sealed=row["sealed"])
    await refused(again.create_workspace_access_token(data=TOKEN), 409, "idempotency_conflict")
    assert await once.create_workspace_access_token(data=TOKEN) == made


async def test_secrets_are_deleted_once_no_retry_can_get_them(surface, once, key, gateway):
    fresh = uuid4().hex
    await once.create_workspace_access_token(data=TOKEN)
    await surface.with_headers(Idempotency_Key=fresh).create_workspace_access_token(data=TOKEN)
    (row,) = await sealed_rows(gateway, key)
    await overwrite(gateway, row, created_at=now() - timedelta(hours=24, seconds=1))
    while await delete_ended(gateway.database, RULES):
        pass
    assert await sealed_rows(gateway, key) == []
    assert len(await sealed_rows(gateway, fresh)) == 1


@pytest.mark.parametrize("change", ["created_at", "sealed"])
async def test_an_altered_row_tells_no_secret(once, key, gateway, change):
    await once.create_workspace_access_token(data=TOKEN)
    (row,) = await sealed_rows(gateway, key)
    altered = {"created_at": row["created_at"] + timedelta(seconds=1), "sealed": ""}
    await overwrite(gateway, row, **{change: altered[change]})
    await refused(once.create_workspace_access_token(data=TOKEN), 409, "idempotency_conflict")


async def test_another_credential_of_the_workspace_does_not_get_the_secret(
    caller, once, key, gateway, tenant
):
    await once.create_workspace_access_token(data=TOKEN)
    other = await issue(
        gateway, CredentialKind.WORKSPACE_TOKEN, WORKSPACE_SCOPES, workspace_id=UUID(tenant.id)
    )
    await refused(
        caller(other).with_headers(Idempotency_Key=key).create_workspace_access_token(data=TOKEN),
        409,
        "idempotency_conflict",
    )
