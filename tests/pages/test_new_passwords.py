"""New passwords: which are taken, and what ends with the old one."""

from uuid import uuid4

import pytest

from tests.support.applications import make_application
from tests.support.browsing import PASSWORD
from tests.support.refusals import refused
from tests.support.surfaces import Rest

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
async def test_a_new_password_that_is_easy_to_guess_is_refused(owner, tenant, password):
    await owner.open("/account")
    answer = await owner.press("Change password", current_password=PASSWORD, new_password=password)
    assert answer.status_code == 422
    assert "easy to guess" in owner.text
    await owner.open("/sign-up")
    email = f"grace-{uuid4().hex}@example.com"
    answer = await owner.press("Create account", email=email, password=password, name="Grace Hopper 1906")
    assert answer.status_code == 422
    assert "easy to guess" in owner.text


@pytest.mark.parametrize("typed", ["{email}", "{local}!", "{name}", "{name}{name}"])
async def test_ones_own_address_or_name_is_no_password(owner, typed):
    local, name = f"grace-{uuid4().hex}", "Grace Hopper 1906"
    password = typed.format(email=f"{local}@example.com", local=local, name=name)
    await owner.open("/sign-up")
    typed = {"email": f"{local}@example.com", "name": name, "password": password}
    answer = await owner.press("Create account", **typed)
    assert answer.status_code == 422
    assert "easy to guess" in owner.text
