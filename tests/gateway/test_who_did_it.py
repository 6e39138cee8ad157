"""What the log says about who sent a request, and about sign-ins."""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from tests.support.browsers.browsing import PASSWORD, browsing, signed_in
from tests.support.callers.surfaces import GraphQL, Refused, Rest
from tests.support.measures.log_lines import own_log_lines
from tests.support.measures.request_log import request_log
from tests.support.servers.gateways import Gateway, Tenant, make_tenant, run_gateway

WHO = ("credential", "kind", "user", "workspace", "address")


@pytest_asyncio.fixture(scope="module")
async def logging(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    folder = tmp_path_factory.mktemp("logging")
    url = f"sqlite+aiosqlite:///{folder}/duograph.sqlite"
    settings = {"access_log": True, "log_addresses": True, "trusted_proxies": "127.0.0.1/32"}
    async for gateway in run_gateway(url, folder, **settings):
        yield gateway


def who(line: dict[str, Any]) -> dict[str, str]:
    return {name: line[name] for name in WHO if name in line}


@pytest.mark.parametrize("surface", [GraphQL, Rest])
async def test_a_line_names_the_credential_its_kind_its_workspace_or_user_and_the_address(
    logging: Gateway, surface: type[Rest | GraphQL]
) -> None:
    tenant = await make_tenant(logging)
    with request_log() as lines:
        for token in (tenant.token, tenant.personal_token, None, "dg_wat_unknown"):
            asking = surface(logging.client, logging.app, token)
            with suppress(Refused):
                await asking.with_headers(X_Forwarded_For="203.0.113.7").list_shares()
        of_workspace, of_user, *refused = map(who, lines())
    assert of_workspace.pop("credential") != of_user.pop("credential")
    address = {"address": "203.0.113.7"}
    assert of_workspace == {"kind": "workspace_token", "workspace": tenant.id} | address
    assert of_user == {"kind": "personal_token", "user": tenant.user_id} | address
    assert refused == [address, address]


async def test_a_line_of_a_page_names_the_session(logging: Gateway) -> None:
    tenant = await make_tenant(logging)
    async with signed_in(logging, tenant) as browser:
        with request_log() as lines:
            await browser.open("/account")
            (line,) = map(who, lines())
    assert UUID(line.pop("credential"))
    assert line == {"kind": "browser_session", "user": tenant.user_id, "address": "127.0.0.1"}


async def test_without_the_setting_no_line_has_an_address(tmp_path: Any) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite"
    async for gateway in run_gateway(url, tmp_path, access_log=True):
        with request_log() as lines:
            await gateway.client.get("/api/shares/")
            assert list(map(who, lines())) == [{}]


async def test_sign_ins_and_refused_ones_are_events_of_their_own(gateway: Gateway, tenant: Tenant) -> None:
    async with browsing(gateway) as browser:
        with own_log_lines() as lines:
            await browser.sign_in(tenant.user_email, "not the password")
            await browser.sign_in(f"{uuid4().hex}@example.com", PASSWORD)
            await browser.sign_in(tenant.user_email)
            await browser.open("/account")
            await browser.press(
                "Change password", current_password="wrong as well", new_password="another long password"
            )
    audit = lines.pop()
    assert (audit["operation"], audit["outcome"], audit["reason"]) == (
        "change_password",
        "refused",
        "invalid",
    )
    refused = {"event": "sign-in refused", "proof": "password", "log_level": "info"}
    own = {"user": tenant.user_id}
    assert lines == [
        refused | own,
        refused,
        {"event": "signed in", "log_level": "info"} | own,
        refused | own,
    ]


async def test_a_refused_code_of_the_portal_is_an_event(tenant: Tenant, anyone: Any) -> None:
    with own_log_lines() as lines, pytest.raises(Refused):
        await anyone.authenticate_portal_code(
            data={"slug": tenant.slug, "email": f"{uuid4().hex}@example.com", "code": "ABCDEF"}
        )
    assert lines == [
        {
            "event": "sign-in refused",
            "proof": "portal code",
            "workspace": tenant.id,
            "log_level": "info",
        }
    ]
