"""A new secret key: apps and recovery codes go on, before and after the accepted key has gone."""

from contextlib import asynccontextmanager
from uuid import UUID

import pytest
import pytest_asyncio
from sqlalchemy import select, update

from oauth.provider.keys import signing_key
from storage.rows.rows import table_of
from storage.sealing import Purpose, Secret, sign
from storage.tables.accounts.second_factors import RecoveryCodeRow, TotpSecretRow
from storage.upkeep.resealing import Resealed, reseal
from tests.second_factors.acting import add_totp, forget_last_code, is_signed_in, recovery_codes, signed_in
from tests.second_factors.conftest import ADDRESS
from tests.support.browsers.browsing import browsing
from tests.support.databases.own_databases import own_database
from tests.support.servers.gateways import SECRET, make_tenant, run_gateway

NEW = "another secret of the tests, of 32 characters"
OLD_AND_NEW = Secret(NEW.encode(), [SECRET.encode()])
_codes, _totp = table_of(RecoveryCodeRow), table_of(TotpSecretRow)

pytestmark = pytest.mark.both_databases


@pytest_asyncio.fixture
async def serving(database_url, tmp_path):
    """Serve one database with these keys."""
    url = await own_database(database_url, tmp_path)

    @asynccontextmanager
    async def serve(secret_key, *accepted):
        settings = {"secret_key": secret_key, "accepted_secret_keys": accepted, "base_url": f"{ADDRESS}/api"}
        async for gateway in run_gateway(url, tmp_path, **settings):
            yield gateway

    return serve


async def opens(gateway, owner, code):
    await forget_last_code(gateway, owner)
    async with browsing(gateway, ADDRESS) as browser:
        await browser.sign_in(owner.user_email)
        await browser.press("Sign in", code=code)
        return is_signed_in(browser)


async def test_factors_and_signing_keys_outlive_the_key_that_sealed_them(serving):
    async with serving(SECRET) as gateway:
        owner = await make_tenant(gateway)
        async with signed_in(gateway, owner) as account:
            app = await add_totp(account)
            codes = recovery_codes(account.page)
        kid = (await signing_key(gateway.database, SECRET.encode())).kid
    async with serving(NEW) as gateway:
        assert not await opens(gateway, owner, app.now())
        assert not await opens(gateway, owner, codes[0])
    async with serving(NEW, SECRET) as gateway:
        assert await opens(gateway, owner, app.now())
        assert await opens(gateway, owner, codes[0])
        assert await reseal(gateway.database, OLD_AND_NEW) == Resealed(anew=1 + 1 + 10)
        assert await reseal(gateway.database, OLD_AND_NEW) == Resealed(current=1 + 1 + 10)
    async with serving(NEW) as gateway:
        assert await opens(gateway, owner, app.now())
        assert await opens(gateway, owner, codes[1])
        assert not await opens(gateway, owner, codes[0]), "it was used"
        assert (await signing_key(gateway.database, NEW.encode())).kid == kid
        assert await reseal(gateway.database, SECRET.encode()) == Resealed(unreadable=1 + 1 + 10)


async def test_a_recovery_code_of_an_earlier_version_works_while_its_key_is_accepted(serving):
    async with serving(SECRET) as gateway:
        owner = await make_tenant(gateway)
        async with signed_in(gateway, owner) as account:
            await add_totp(account)
            code = recovery_codes(account.page)[0]
        signature = sign(SECRET.encode(), Purpose.RECOVERY_CODE, owner.user_id, code.replace("-", ""))
        async with gateway.database.write() as connection:
            ids = select(_codes.c.id).where(_codes.c.user_id == UUID(owner.user_id)).limit(1)
            await connection.execute(
                update(_codes).where(_codes.c.id.in_(ids.scalar_subquery())).values(hash=signature)
            )
    async with serving(NEW, SECRET) as gateway:
        assert (await reseal(gateway.database, OLD_AND_NEW)).unreadable == 1
        assert await opens(gateway, owner, code)
