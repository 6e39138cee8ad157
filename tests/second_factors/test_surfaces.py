"""Factors over both surfaces: a browser session sees and removes its own user's, and adds none."""

import ast
from pathlib import Path

import pytest_asyncio

from oauth.principals import PrincipalKind
from rest_compat.api import operation_routes
from tests.support.browsers.browsing import sign_in_was_hours_ago
from tests.support.callers.refusals import refused
from tests.support.callers.world import add_factors
from tests.support.servers.gateways import start_session

ROOT = Path(__file__).parent.parent.parent
NOTHING = {
    "enabled": False,
    "totp_created_at": None,
    "totp_last_used_at": None,
    "passkeys": 0,
    "recovery_codes": 0,
}
# Where a browser session begins: each asks for the factor, or is of a user who can have none.
ENTRANCES = {"create_account", "sign_in", "take_second_step", "sign_in_with_passkey"}


async def in_a_browser(gateway, caller, tenant):
    return caller(None).in_browser(await start_session(gateway, tenant.user_id))


@pytest_asyncio.fixture
async def user(gateway, caller, tenant):
    return await in_a_browser(gateway, caller, tenant)


async def test_a_user_sees_and_removes_factors(user, tenant):
    assert await user.get_second_factors() == NOTHING
    id = await add_factors(user, tenant.user_id)
    state = await user.get_second_factors()
    assert (state["enabled"], state["passkeys"], state["totp_created_at"] is None) == (True, 1, False)
    (passkey,) = (await user.list_passkeys())["data"]
    assert passkey == await user.get_passkey(id=id)
    assert (passkey["name"], passkey["transports"], passkey["last_used_at"]) == ("Phone", ["internal"], None)
    assert (await user.update_passkey(id=id, data={"name": "Laptop"}))["name"] == "Laptop"
    await user.delete_passkey(id=id)
    assert (await user.get_second_factors())["enabled"]
    await user.delete_totp()
    assert await user.get_second_factors() == NOTHING
    await refused(user.delete_totp(), 404, "not_found")


async def test_neither_keys_nor_secrets_are_answered(user, tenant):
    await add_factors(user, tenant.user_id)
    fields = {"id", "created_at", "modified_at", "user_id", "name", "transports", "last_used_at"}
    assert (await user.list_passkeys())["data"][0].keys() == fields


async def test_the_factors_of_another_user_are_not_there(user, gateway, caller, tenant, other_tenant):
    id = await add_factors(user, tenant.user_id)
    stranger = await in_a_browser(gateway, caller, other_tenant)
    assert await stranger.get_second_factors() == NOTHING
    assert (await stranger.list_passkeys())["data"] == []
    for attempt in (
        stranger.get_passkey(id=id),
        stranger.update_passkey(id=id, data={"name": "Mine"}),
        stranger.delete_passkey(id=id),
        stranger.delete_totp(),
    ):
        await refused(attempt, 404, "not_found")
    assert (await user.get_passkey(id=id))["name"] == "Phone"


async def test_a_token_removes_no_factor(user, caller, tenant):
    """A leaked token would else let the password alone in."""
    id = await add_factors(user, tenant.user_id)
    for token in (tenant.personal_token, tenant.token):
        for attempt in (caller(token).delete_totp(), caller(token).delete_passkey(id=id)):
            await refused(attempt, 403, "not_permitted")
    assert (await user.get_second_factors())["passkeys"] == 1


async def test_a_session_of_yesterday_removes_no_factor(user, gateway, tenant):
    id = await add_factors(user, tenant.user_id)
    await sign_in_was_hours_ago(gateway, tenant)
    for attempt in (user.delete_totp(), user.delete_passkey(id=id)):
        await refused(attempt, 403, "reauthentication_required")
    assert (await user.get_second_factors())["passkeys"] == 1


def test_neither_surface_adds_a_factor():
    """That takes a page: the browser's ceremony, or an app that scans a code."""
    published = operation_routes()
    about = {
        name
        for name in published
        if any(noun in name for noun in ("passkey", "totp", "factor", "recovery_code", "second_step"))
    }
    reading_and_removing = {"get_second_factors", "list_passkeys", "get_passkey", "update_passkey"}
    assert about == reading_and_removing | {"delete_passkey", "delete_totp"}
    for name in about:
        assert published[name].operation.kinds == {PrincipalKind.BROWSER_SESSION}


def test_every_way_to_a_session_is_known_to_ask_for_the_factor():
    """A new one has to be added to `ENTRANCES`, with the factor in it."""
    callers = set()
    for package in ("gateway", "rest_compat", "resolvers", "oauth"):
        for path in (ROOT / package).rglob("*.py"):
            callers |= callers_in(ast.parse(path.read_text()))
    assert callers == ENTRANCES | {"complete_sign_in"}


def callers_in(module: ast.Module) -> set[str]:
    """The functions of a module that begin browser sessions."""
    sources = {
        "resolvers.credentials.browser_sessions": "start_browser_session",
        "resolvers.sign_in.sign_in": "complete_sign_in",
    }
    begins = {
        name.asname or name.name
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom) and node.module in sources
        for name in node.names
        if name.name == sources[node.module]
    }
    begins |= {
        node.name
        for node in module.body
        if isinstance(node, ast.AsyncFunctionDef) and node.name == "complete_sign_in"
    }
    return {
        node.name
        for node in ast.walk(module)
        if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef)
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and part.id in begins
    }
