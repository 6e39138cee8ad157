"""New passwords: which are taken, and what ends with the old one."""

from threading import BoundedSemaphore
from uuid import uuid4

import pytest
import pytest_asyncio

from oauth.sign_in import passwords
from tests.support.browsers.browsing import PASSWORD, browsing, signed_in
from tests.support.callers.refusals import refused
from tests.support.callers.surfaces import Rest
from tests.support.mails.mailed_links import (
    NEW_PASSWORD,
    ask_for_a_link,
    latest_link,
    open_sign_up_link,
    sign_up,
)
from tests.support.servers.gateways import make_tenant, run_gateway
from tests.support.tenants.applications import make_application

EASY_TO_GUESS = [
    "aaaaaaaaaaaa",
    "password1234",
    " " * 12,
    "qwertyuiop12",
    "123456789012",
    "P4ssw0rd!!99",
    "duograph1234",
    "abcabcabcabc",
    "a" * 1000,
]


async def test_a_new_password_ends_tokens_and_grants_unless_they_are_kept(gateway, owner, api, tenant):
    application = await make_application(gateway)
    new, newest = "another long password", "quite another long password"
    token = (await application.tokens(tenant))["access_token"]
    await owner.open("/account")
    changed = {"current_password": PASSWORD, "new_password": new, "end_everything": None}
    await owner.press("Change password", **changed)
    assert "All other browsers are signed out" in owner.text
    assert (await api.get_viewer())["kind"] == "personal_token"
    assert await application.reach(token) == 200
    await owner.press("Change password", current_password=new, new_password=newest)
    assert "personal tokens and applications have lost access" in owner.text
    await refused(api.get_viewer(), 401, "invalid_token")
    assert await application.reach(token) == 401
    assert (await Rest(gateway.client, gateway.app, tenant.token).get_viewer())["kind"] == "workspace_token"


@pytest.mark.parametrize("password", EASY_TO_GUESS)
async def test_a_new_password_that_is_easy_to_guess_is_refused(gateway, owner, password):
    await owner.open("/account")
    answer = await owner.press("Change password", current_password=PASSWORD, new_password=password)
    assert answer.status_code == 422
    assert "easy to guess" in owner.text
    await open_sign_up_link(gateway, owner, f"grace-{uuid4().hex}@example.com")
    answer = await owner.press("Create account", password=password, name="Grace Hopper 1906")
    assert answer.status_code == 422
    assert "easy to guess" in owner.text


@pytest.mark.parametrize("typed", ["{email}", "{local}!", "{name}", "{name}{name}"])
async def test_ones_own_address_or_name_is_no_password(gateway, owner, typed):
    local, name = f"grace-{uuid4().hex}", "Grace Hopper 1906"
    password = typed.format(email=f"{local}@example.com", local=local, name=name)
    await open_sign_up_link(gateway, owner, f"{local}@example.com")
    answer = await owner.press("Create account", name=name, password=password)
    assert answer.status_code == 422
    assert "easy to guess" in owner.text


async def test_a_new_password_waits_for_no_more_than_a_few_others(
    gateway, browser, owner, tenant, monkeypatch
):
    await ask_for_a_link(browser, tenant.user_email)
    link = await latest_link(gateway, tenant.user_email)
    # As while the most are waiting: how long they do depends on the machine.
    monkeypatch.setattr(passwords, "_room_for_new", BoundedSemaphore(1))
    assert passwords._room_for_new.acquire(blocking=False)
    await owner.open("/account")
    answers = [await owner.press("Change password", current_password=PASSWORD, new_password=NEW_PASSWORD)]
    await open_sign_up_link(gateway, browser)
    answers.append(await browser.press("Create account", password=PASSWORD))
    await browser.open(link)
    answers.append(await browser.press("Set password", password=NEW_PASSWORD))
    assert [(answer.status_code, answer.headers["Retry-After"]) for answer in answers] == [(503, "5")] * 3
    # Those who sign in wait for none of them.
    await browser.sign_in(tenant.user_email)
    assert browser.path.startswith(f"/{tenant.slug}")


async def test_a_password_that_was_judged_leaves_its_place_to_others(gateway, browser, monkeypatch):
    monkeypatch.setattr(passwords, "_room_for_new", BoundedSemaphore(1))
    await open_sign_up_link(gateway, browser)
    for password in EASY_TO_GUESS[:2]:
        assert (await browser.press("Create account", password=password)).status_code == 422
    await browser.press("Create account", password=PASSWORD)
    assert browser.path == "/workspaces"


@pytest_asyncio.fixture
async def limited(tmp_path):
    url = f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite"
    limits = {"rate_limit_restricted": 3, "trusted_proxies": "127.0.0.1/32"}
    async for gateway in run_gateway(url, tmp_path, **limits):
        yield gateway


async def test_an_account_has_its_passwords_judged_so_often_from_wherever_they_are_sent(limited):
    email, answers = f"{uuid4().hex}@example.com", []
    for number in range(4):
        async with browsing(limited) as browser:
            browser.client.headers["X-Forwarded-For"] = f"198.51.100.{number}"
            await open_sign_up_link(limited, browser, email)
            answers.append(await browser.press("Create account", password="aaaaaaaaaaaa"))
            browser.client.headers["X-Forwarded-For"] = f"203.0.113.{number}"
            assert await sign_up(limited, browser)
    assert [answer.status_code for answer in answers] == [422, 422, 422, 429]


async def test_changes_of_passwords_count_against_the_restricted_limit(limited):
    async with signed_in(limited, await make_tenant(limited)) as browser:
        await browser.open("/account")
        wrong = {"current_password": "a guess", "new_password": NEW_PASSWORD}
        answers = [await browser.press("Change password", **wrong) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [422, 422, 422, 429]
    assert "More than 3 calls" in answers[-1].text
