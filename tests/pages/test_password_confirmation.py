"""The password is asked again before a page hands out access, and nothing that was typed is lost."""

import re

import pytest

from tests.support.browsers.browsing import PASSWORD, sign_in_was_hours_ago


@pytest.fixture
async def browser(signed_in_browser, gateway, tenant):
    """A browser in which the user signed in two hours ago."""
    await sign_in_was_hours_ago(gateway, tenant)
    return signed_in_browser


async def made(api):
    """The tokens that were made, beside the one that the tenant has."""
    tokens = (await api.list_personal_access_tokens())["data"]
    return [token for token in tokens if token["comment"]]


async def ask_for_a_token(browser):
    await browser.open("/account/personal-access-tokens")
    scopes = ["shares:read", "files:read"]
    return await browser.press("Create token", comment="Nightly <job>", scopes=scopes)


async def test_a_token_is_made_once_the_password_is_entered_again(browser, api):
    answer = await ask_for_a_token(browser)
    assert answer.status_code == 403
    assert "Confirm your identity" in browser.text
    assert await made(api) == []
    answer = await browser.press("Continue", confirmed_password=PASSWORD)
    assert answer.status_code == 201
    assert re.search(r"dg_pat_[0-9A-Za-z]{36}", browser.text)
    (token,) = await made(api)
    assert token["comment"] == "Nightly <job>"
    assert sorted(token["scopes"]) == ["files:read", "shares:read"]
    answer = await ask_for_a_token(browser)
    assert answer.status_code == 201


async def test_a_wrong_password_makes_nothing_and_keeps_what_was_typed(browser, api):
    await ask_for_a_token(browser)
    answer = await browser.press("Continue", confirmed_password="not the password")
    assert answer.status_code == 422
    assert "This is not your password" in browser.text
    assert "not the password" not in answer.text
    assert await made(api) == []
    await browser.press("Continue", confirmed_password=PASSWORD)
    (token,) = await made(api)
    assert token["comment"] == "Nightly <job>"


async def test_a_form_cannot_say_that_the_password_was_confirmed(browser, api):
    await browser.open("/account/personal-access-tokens")
    for forged in ({"confirmed_password": ""}, {"authenticated_at": "2999-01-01T00:00:00Z"}):
        answer = await browser.press("Create token", comment="a", scopes=["shares:read"], **forged)
        assert answer.status_code in (403, 422)
        await browser.open("/account/personal-access-tokens")
    assert await made(api) == []


async def test_invitations_and_clients_ask_for_the_password_too(browser, tenant):
    await browser.open(f"/workspaces/{tenant.slug}/members")
    await browser.press("Invite", email="new@example.com")
    assert "Confirm your identity" in browser.text
    await browser.press("Continue", confirmed_password=PASSWORD)
    assert "new@example.com" in browser.text


@pytest.mark.parametrize("next_path", ["https://evil.example/", "//evil.example/"])
async def test_the_page_for_programs_confirms_the_password_and_stays_here(browser, next_path):
    await browser.open(f"/confirm-password?next={next_path}")
    await browser.press("Continue", confirmed_password="not the password")
    assert "This is not your password" in browser.text
    answer = await browser.press("Continue", confirmed_password=PASSWORD, follow=False)
    assert answer.headers["location"] == "/dashboard"
    answer = await ask_for_a_token(browser)
    assert answer.status_code == 201
