"""What is deleted of an OAuth grant while it lasts, and that a stolen refresh token still ends it."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from oauth.credentials import digest
from oauth.provider.server import REFRESH_TOKEN_LIFE
from storage.clock import now
from storage.retention.deletion import delete_ended
from storage.retention.rules import RULES
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_grants import OAuthGrantRow
from tests.support.tenants.applications import error_of

pytestmark = pytest.mark.both_databases

_credentials, _grants = table_of(CredentialRow), table_of(OAuthGrantRow)


async def pass_by(gateway):
    while await delete_ended(gateway.database, RULES):
        pass


async def is_kept(gateway, text):
    async with gateway.database.read() as connection:
        found = await connection.execute(select(_credentials.c.id).where(_credentials.c.hash == digest(text)))
        return found.first() is not None


async def grant_of(gateway, text):
    async with gateway.database.read() as connection:
        same = _credentials.c.hash == digest(text)
        return (await connection.execute(select(_credentials.c.grant_id).where(same))).scalar_one()


async def test_a_replaced_token_ends_its_family_long_after_it_was_replaced(gateway, public, tenant):
    first = await public.tokens(tenant)
    second = (await public.refresh(first["refresh_token"])).json()
    third = (await public.refresh(second["refresh_token"])).json()
    for text in (first["refresh_token"], first["access_token"]):
        await public.age(text, timedelta(days=3650))
    await pass_by(gateway)
    assert not await is_kept(gateway, first["access_token"])
    assert await public.reach(third["access_token"]) == 200
    assert error_of(await public.refresh(first["refresh_token"])) == (400, "invalid_grant")
    assert error_of(await public.refresh(third["refresh_token"])) == (400, "invalid_grant")
    assert await public.reach(third["access_token"]) == 401


async def end_earlier(gateway, grant_id, time):
    """Put the end of a grant back by some time; returns the end it had."""
    async with gateway.database.write() as connection:
        own = _grants.c.id == grant_id
        end = (await connection.execute(select(_grants.c.ends_at).where(own))).scalar_one()
        await connection.execute(update(_grants).where(own).values(ends_at=end - time))
    return end


async def test_a_grant_that_a_release_before_has_refreshed_is_kept_with_its_tokens(gateway, public, tenant):
    first = await public.tokens(tenant)
    second = (await public.refresh(first["refresh_token"])).json()
    # That release gives the token a new life, but not the grant.
    await end_earlier(gateway, await grant_of(gateway, second["refresh_token"]), timedelta(days=365))
    await pass_by(gateway)
    assert await is_kept(gateway, first["refresh_token"])
    assert (await public.refresh(second["refresh_token"])).status_code == 200


async def test_a_refresh_gives_the_grant_a_new_end(gateway, application, public, tenant):
    for client in (application, public):
        token = await client.tokens(tenant)
        id = await grant_of(gateway, token["refresh_token"])
        end = await end_earlier(gateway, id, timedelta(days=365))
        assert end > now() + REFRESH_TOKEN_LIFE - timedelta(hours=1)
        token = (await client.refresh(token["refresh_token"])).json()
        await pass_by(gateway)
        async with gateway.database.read() as connection:
            ends_at = select(_grants.c.ends_at).where(_grants.c.id == id)
            assert (await connection.execute(ends_at)).scalar_one() >= end
        assert (await client.refresh(token["refresh_token"])).status_code == 200


async def test_a_grant_is_forgotten_30_days_after_its_end(gateway, public, tenant):
    token = await public.tokens(tenant)
    id = await grant_of(gateway, token["refresh_token"])
    assert (await public.post("revoke", {"token": token["refresh_token"], **public.credentials})).is_success
    await pass_by(gateway)
    assert await is_kept(gateway, token["refresh_token"])
    await end_earlier(gateway, id, timedelta(days=30))
    await pass_by(gateway)
    assert not await is_kept(gateway, token["refresh_token"])
    async with gateway.database.read() as connection:
        assert (await connection.execute(select(_grants).where(_grants.c.id == id))).first() is None
    assert error_of(await public.refresh(token["refresh_token"])) == (400, "invalid_grant")
