"""A public client that lost an answer asks again, and what a thief of its old token gets from that."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from oauth.credentials import digest
from storage.retention.deletion import delete_ended
from storage.retention.rules import REFRESH_ANSWERS
from storage.rows.rows import table_of
from storage.tables.credentials.refresh_answers import RefreshAnswerRow
from tests.support.measures.spans import span
from tests.support.tenants.applications import error_of, make_application

pytestmark = pytest.mark.both_databases

answers = table_of(RefreshAnswerRow)


async def let_time_pass(gateway, token, by):
    """As if the answer to the use of `token` had been kept that much earlier; gives the end that it had."""
    row = answers.c.hash == digest(token)
    async with gateway.database.write() as connection:
        expires_at = (await connection.execute(select(answers.c.expires_at).where(row))).scalar_one()
        await connection.execute(update(answers).where(row).values(expires_at=expires_at - by))
    return expires_at


async def expect_that_the_family_has_ended(application, *tokens):
    for token in tokens:
        assert error_of(await application.refresh(token["refresh_token"])) == (400, "invalid_grant")
        assert await application.reach(token["access_token"]) == 401


async def test_a_client_that_lost_the_answer_gets_the_same_one_again(public, tenant):
    token = await public.tokens(tenant)
    lost = await public.refresh(token["refresh_token"])
    again = await public.refresh(token["refresh_token"])
    assert (again.status_code, again.json()) == (200, lost.json())
    assert again.headers["cache-control"] == "no-store"
    assert await public.reach(again.json()["access_token"]) == 200
    renewed = await public.refresh(again.json()["refresh_token"])
    assert renewed.status_code == 200
    assert renewed.json()["refresh_token"] != lost.json()["refresh_token"]


async def test_a_retry_counts_until_half_a_minute_has_passed(gateway, public, tenant):
    token = await public.tokens(tenant)
    with span() as using:
        lost = (await public.refresh(token["refresh_token"])).json()
    assert (await public.refresh(token["refresh_token"])).json() == lost
    end = await let_time_pass(gateway, token["refresh_token"], timedelta(seconds=30))
    assert end in using + timedelta(seconds=30)
    await expect_that_the_family_has_ended(public, token, lost)


async def test_an_old_token_ends_the_family_once_its_successor_was_used(public, tenant):
    token = await public.tokens(tenant)
    second = (await public.refresh(token["refresh_token"])).json()
    third = (await public.refresh(second["refresh_token"])).json()
    await expect_that_the_family_has_ended(public, token, second, third)


async def test_the_use_of_the_new_access_token_does_not_end_the_retry(public, tenant):
    """Of two tabs that refresh at once one calls the API before the other has its answer."""
    token = await public.tokens(tenant)
    given = (await public.refresh(token["refresh_token"])).json()
    assert await public.reach(given["access_token"]) == 200
    assert (await public.refresh(token["refresh_token"])).json() == given


async def test_another_client_gets_nothing_with_the_old_token_and_ends_the_family(gateway, public, tenant):
    thief = await make_application(gateway, is_public=True)
    token = await public.tokens(tenant)
    given = (await public.refresh(token["refresh_token"])).json()
    assert error_of(await thief.refresh(token["refresh_token"])) == (400, "invalid_grant")
    await expect_that_the_family_has_ended(public, token, given)


async def test_another_client_gets_nothing_with_the_current_token_and_ends_nothing(gateway, public, tenant):
    thief = await make_application(gateway, is_public=True)
    token = await public.tokens(tenant)
    assert error_of(await thief.refresh(token["refresh_token"])) == (400, "invalid_grant")
    assert await public.reach(token["access_token"]) == 200


@pytest.mark.parametrize("name", ["access_token", "refresh_token"])
async def test_a_retry_after_a_revocation_ends_the_family(public, tenant, name):
    token = await public.tokens(tenant)
    given = (await public.refresh(token["refresh_token"])).json()
    revoked = await public.post("revoke", {"token": given[name], **public.credentials})
    assert revoked.status_code == 200
    await expect_that_the_family_has_ended(public, token, given)


async def test_an_application_that_lost_its_access_gets_no_retried_answer(public, caller, tenant):
    user = caller(tenant.personal_token)
    token = await public.tokens(tenant)
    given = (await public.refresh(token["refresh_token"])).json()
    (authorized,) = (await user.list_authorized_applications())["data"]
    await user.revoke_authorized_application(id=authorized["id"])
    await expect_that_the_family_has_ended(public, token, given)


async def test_a_retry_that_asks_for_other_scopes_is_none(public, tenant):
    token = await public.tokens(tenant, scope="shares:read files:read")
    given = (await public.refresh(token["refresh_token"], scope="files:read")).json()
    assert (await public.refresh(token["refresh_token"], scope="files:read")).json() == given
    answer = await public.refresh(token["refresh_token"], scope="shares:read")
    assert error_of(answer) == (400, "invalid_grant")
    await expect_that_the_family_has_ended(public, token, given)


async def test_the_table_gives_no_token_away(gateway, public, tenant):
    token = await public.tokens(tenant)
    given = (await public.refresh(token["refresh_token"])).json()
    other = await public.tokens(tenant)
    await public.refresh(other["refresh_token"])
    async with gateway.database.read() as connection:
        rows = {row.hash: row.sealed for row in await connection.execute(select(answers))}
    assert given["refresh_token"] not in str(rows)
    # An answer that is put into the row of another token opens for nobody.
    async with gateway.database.write() as connection:
        mine = answers.c.hash == digest(other["refresh_token"])
        sealed = rows[digest(token["refresh_token"])]
        await connection.execute(update(answers).where(mine).values(sealed=sealed))
    assert error_of(await public.refresh(other["refresh_token"])) == (400, "invalid_grant")


async def test_answers_are_deleted_once_no_retry_can_get_them(gateway, public, tenant):
    old, new = await public.tokens(tenant), await public.tokens(tenant)
    for token in (old, new):
        await public.refresh(token["refresh_token"])
    await let_time_pass(gateway, old["refresh_token"], timedelta(seconds=30))
    await delete_ended(gateway.database, [REFRESH_ANSWERS])
    hashes = [digest(token["refresh_token"]) for token in (old, new)]

    # The gateway, which deletes them once a minute, may have locked what it is about to.
    kept = select(answers.c.hash).where(answers.c.hash.in_(hashes)).with_for_update()
    async with gateway.database.write() as connection:
        assert list((await connection.execute(kept)).scalars()) == hashes[1:]


async def test_a_confidential_clients_answers_are_not_kept(gateway, confidential, tenant):
    token = await confidential.tokens(tenant)
    await confidential.refresh(token["refresh_token"])
    kept = select(func.count()).where(answers.c.hash == digest(token["refresh_token"]))
    async with gateway.database.read() as connection:
        assert (await connection.execute(kept)).scalar_one() == 0


async def test_many_refreshes_of_a_public_client_at_once_all_get_the_same_successor(public, tenant):
    token = await public.tokens(tenant)
    refreshed = await asyncio.gather(*(public.refresh(token["refresh_token"]) for _ in range(6)))
    assert [answer.status_code for answer in refreshed] == [200] * 6
    assert len({answer.text for answer in refreshed}) == 1
    assert (await public.refresh(refreshed[0].json()["refresh_token"])).status_code == 200


async def test_old_and_new_tokens_at_once_end_the_family_and_nothing_hangs(public, tenant):
    """Each of them may end what the others are about to use; none waits for one that waits for it."""
    for _ in range(5):
        first = await public.tokens(tenant)
        second = (await public.refresh(first["refresh_token"])).json()
        third = (await public.refresh(second["refresh_token"])).json()
        texts = [token["refresh_token"] for token in (first, second, third)] * 3
        revoking = public.post("revoke", {"token": third["refresh_token"], **public.credentials})
        done = await asyncio.gather(*map(public.refresh, texts), revoking)
        assert {answer.status_code for answer in done} <= {200, 400}
        await expect_that_the_family_has_ended(public, first, second, third)
