"""Answers that no reader of the reference gets by trying its examples out, taken from a gateway of their own.

They need what another operation, a browser, an email or GitHub brings.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from oauth.principals import PrincipalKind
from rest_compat.api import operation_routes
from rest_compat.protocols.secret_scanning import REPORT_PATH
from rest_compat.routing.endpoint import EMPTY
from tests.support.callers.examples import EXAMPLES, PERSONAL
from tests.support.callers.reference import IN_ORDER, NEEDS_MORE
from tests.support.callers.surfaces import Rest
from tests.support.callers.world import World, world_of
from tests.support.mails.portal_codes import Entrance
from tests.support.servers.gateways import Gateway, Tenant, bearer, make_tenant, run_gateway, start_session
from tests.support.servers.report_keys import KeyServer, serve_keys
from tests.support.tenants.applications import Application, make_application

SHARE = {"name": "Sea sounds", "prices": [{"amount_type": "free"}]}
IN_A_BROWSER = {PrincipalKind.BROWSER_SESSION}
# More bytes than a share may have.
TOO_LARGE = 512 * 1024


@asynccontextmanager
async def _gateway(folder: Path, **settings: Any) -> AsyncIterator[Gateway]:
    url = f"sqlite+aiosqlite:///{folder}/further.sqlite"
    async for gateway in run_gateway(url, folder / "further", **settings):
        yield gateway


async def further_answers(folder: Path) -> dict[str, Any]:
    """The answers by the names of operations, endpoints and failures."""
    with serve_keys() as keys:
        async with _gateway(folder, secret_scanning_keys_url=keys.url) as gateway:
            tenant = await make_tenant(gateway)
            world = await world_of(gateway, tenant)
            found = await _of_operations(gateway, tenant, world)
            found |= await _of_the_protocol(gateway, tenant)
            found |= await _of_failures(gateway, tenant)
            found["report_leaks"] = await _of_a_report(gateway, world, keys)
    async with _gateway(folder, rate_limit=2) as gateway:
        for _ in range(3):
            answer = await gateway.client.get("/api/shares/", headers=bearer(tenant.token))
        found["RateLimited"] = answer.json()
    return found


def _names() -> list[str]:
    """The operations that answer something, reads first."""
    routes = operation_routes()
    names = [
        name
        for name in EXAMPLES
        if routes[name].served.status not in EMPTY
        and (name in NEEDS_MORE or routes[name].operation.kinds == IN_A_BROWSER)
    ]
    return sorted(names, key=lambda name: IN_ORDER.index(routes[name].method))


async def _of_operations(gateway: Gateway, tenant: Tenant, world: World) -> dict[str, Any]:
    workspace = Rest(gateway.client, gateway.app, tenant.token)
    browser = workspace.in_browser(await start_session(gateway, tenant.user_id))
    found = {}
    for name in _names():
        arguments, surface = EXAMPLES[name](world), workspace
        if name == "authenticate_portal_code":
            code = await Entrance(workspace, gateway, tenant).code("team@example.com")
            arguments = {"data": arguments["data"] | {"code": code}}
        elif "portal" in name:
            surface = workspace.with_token(world.customer_token)
        elif operation_routes()[name].operation.kinds == IN_A_BROWSER:
            surface = browser
        elif name in PERSONAL:
            surface = workspace.with_token(tenant.personal_token)
        found[name] = await getattr(surface, name)(**arguments)
    return found


async def _of_the_protocol(gateway: Gateway, tenant: Tenant) -> dict[str, Any]:
    """A sign-in to the end, and a client that registers itself."""
    app = await make_application(gateway)
    tokens = await app.tokens(tenant, scope="openid profile email shares:read")
    own = bearer(tokens["access_token"])
    userinfo = (await gateway.client.get("/api/oauth2/userinfo", headers=own)).json()
    form = {"token": tokens["access_token"], **app.credentials}
    found = {"exchange_token": tokens, "get_userinfo": userinfo, "post_userinfo": userinfo}
    for name, endpoint in (("introspect_token", "introspect"), ("revoke_token", "revoke")):
        found[name] = (await app.post(endpoint, form)).json()
    return found | await _of_registration(gateway, tenant)


async def _of_registration(gateway: Gateway, tenant: Tenant) -> dict[str, Any]:
    metadata = {"client_name": "Bookkeeper", "redirect_uris": [Application.redirect_uri], "scope": "openid"}
    answer = await gateway.client.post(
        "/api/oauth2/register", json=metadata, headers=bearer(tenant.personal_token)
    )
    registered = answer.json()
    path, own = registered["registration_client_uri"], bearer(registered["registration_access_token"])
    read = (await gateway.client.get(path, headers=own)).json()
    replaced = await gateway.client.put(
        path, json=metadata | {"client_id": registered["client_id"]}, headers=own
    )
    return {
        "register_client": registered,
        "get_registration": read,
        "replace_registration": replaced.json(),
    }


async def _of_failures(gateway: Gateway, tenant: Tenant) -> dict[str, Any]:
    own = {**bearer(tenant.token), "Idempotency-Key": "make-sea-sounds"}
    send: Callable[..., Awaitable[Any]] = gateway.client.post
    await send("/api/shares/", json=SHARE, headers=own)
    conflict = await send("/api/shares/", json=SHARE | {"name": "Sea songs"}, headers=own)
    large = await send("/api/shares/", content=b" " * TOO_LARGE, headers=bearer(tenant.token))
    beyond = {"after": "0" + "9" * 18}
    gone = await gateway.client.get("/api/changes/", params=beyond, headers=bearer(tenant.token))
    return {"Conflict": conflict.json(), "TooLarge": large.json(), "Gone": gone.json()}


async def _of_a_report(gateway: Gateway, world: World, keys: KeyServer) -> Any:
    """What GitHub is told of a token that it found: here of one that no workspace has."""
    body = json.dumps([{"token": "dg_wat_unknown", "type": "duograph_token", "url": "", "source": ""}])
    signed = keys.sign(keys.add_key(), body.encode())
    headers = {"Content-Type": "application/json", **signed}
    return (await gateway.client.post(REPORT_PATH, content=body, headers=headers)).json()
