"""Every bound that an input declares: what lies beyond it is refused at its place, on both surfaces."""

from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio

from rest_compat.api import operation_routes
from rest_compat.routing.reading import path_names_of
from tests.support.callers.bounds import beyond_bounds, call_with
from tests.support.callers.examples import IN_A_BROWSER, PERSONAL
from tests.support.callers.refusals import UNKNOWN_ID
from tests.support.callers.surfaces import GraphQL, Refused, Rest, Surface
from tests.support.callers.world import make_customer_token
from tests.support.servers.gateways import Gateway, Tenant, make_tenant, run_gateway, start_session

ROUTES = operation_routes()
BOUNDED = sorted(name for name, route in ROUTES.items() if any(beyond_bounds(route.operation)))


@dataclass(frozen=True)
class Callers:
    """The credentials of one workspace, for both surfaces."""

    gateway: Gateway
    tenant: Tenant
    customer_token: str
    session: Any

    def of(self, name: str, kind: type[Surface]) -> Surface:
        """A caller with a credential of the kind that the operation takes."""
        own = kind(self.gateway.client, self.gateway.app, self.tenant.token)
        if name in IN_A_BROWSER:
            return own.in_browser(self.session)
        if "portal" in name:
            return own.with_token(self.customer_token)
        return own.with_token(self.tenant.personal_token) if name in PERSONAL else own


@pytest_asyncio.fixture(scope="module")
async def callers(tmp_path_factory):
    """A gateway on SQLite: bad input is refused before it comes near a database."""
    folder = tmp_path_factory.mktemp("bounds")
    async for gateway in run_gateway(f"sqlite+aiosqlite:///{folder}/duograph.sqlite", folder / "objects"):
        tenant = await make_tenant(gateway)
        session = await start_session(gateway, tenant.user_id)
        yield Callers(gateway, tenant, await make_customer_token(gateway, tenant), session)


@pytest.mark.parametrize("kind", [Rest, GraphQL])
@pytest.mark.parametrize("name", BOUNDED)
async def test_what_is_beyond_a_bound_is_refused_with_its_place(callers, name, kind):
    caller, operation = callers.of(name, kind), ROUTES[name].operation
    ids = dict.fromkeys(path_names_of(ROUTES[name].path), UNKNOWN_ID)
    faults = []
    for place, value in beyond_bounds(operation):
        # REST writes the pairs of metadata in the names of parameters.
        if kind is Rest and place[:2] == ("filters", "metadata"):
            continue
        try:
            outcome: Any = await caller.ask(name, {**ids, **call_with(operation, place, value)})
        except Refused as refused:
            outcome = refused
        if not is_placed(outcome, place):
            faults.append(f"{place} = {value!r:.40}: {outcome!r:.400}")
    assert not faults, "\n".join(faults)


def is_placed(outcome: Any, place: tuple[str | int, ...]) -> bool:
    """Whether it is a problem of this place, or of one around or inside it, with a sentence.

    That the sentence names the place, `gateway.client` checks of every answer.
    """
    if not isinstance(outcome, Refused) or (outcome.status, outcome.code) != (422, "invalid"):
        return False
    own = list(place[1:]) if place[0] in ("data", "filters") else list(place)
    return any(
        entry["msg"] and all(here == there for here, there in zip(entry["loc"], own, strict=False))
        for entry in outcome.detail
    )
