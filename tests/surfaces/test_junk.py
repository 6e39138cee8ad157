"""The same bad input over both surfaces: the same outcome, down to the place and wording of each problem."""

from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rest_compat.api import operation_routes
from tests.parity.calls import over_graphql, over_rest
from tests.parity.likeness import Likeness
from tests.support.callers.inputs import data_for, filters_for
from tests.support.callers.refusals import UNKNOWN_ID
from tests.support.callers.surfaces import GraphQL, Rest
from tests.support.measures.cases import cases
from tests.support.servers.gateways import make_tenant, run_gateway

ROUTES = operation_routes()


def arguments_for(name: str) -> st.SearchStrategy[dict[str, Any]]:
    parts, operation = [], ROUTES[name].operation
    for parameter in operation.parameters:
        if parameter.place == "filters":
            parts.append(filters_for(operation))
        elif parameter.place == "data":
            parts.append(st.fixed_dictionaries({"data": data_for(parameter.annotation)}))
        elif parameter.name.endswith("id") and parameter.name in ROUTES[name].path:
            parts.append(st.fixed_dictionaries({parameter.name: st.sampled_from([UNKNOWN_ID, "x", "7"])}))
    return st.tuples(*parts).map(lambda found: {k: v for part in found for k, v in part.items()})


@pytest_asyncio.fixture(scope="module")
async def gateway(tmp_path_factory):
    """A gateway on SQLite: bad input is refused before it comes near a database."""
    folder = tmp_path_factory.mktemp("junk")
    async for running in run_gateway(f"sqlite+aiosqlite:///{folder}/duograph.sqlite", folder / "objects"):
        yield running


@pytest_asyncio.fixture(scope="module")
async def tenants(gateway):
    """Two workspaces that live through the same calls, one over each surface; and what corresponds."""
    return await make_tenant(gateway), await make_tenant(gateway), Likeness()


@pytest.mark.parametrize("name", sorted(ROUTES))
@settings(
    max_examples=cases(6, len(ROUTES)),
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
async def test_both_surfaces_judge_alike(gateway, tenants, name, data):
    arguments = data.draw(arguments_for(name))
    here, there, likeness = tenants
    operation = ROUTES[name].operation
    one = await over_rest(Rest(gateway.client, gateway.app, here.token), operation, arguments)
    other = await over_graphql(
        GraphQL(gateway.client, gateway.app, there.token), operation, arguments, plain=True
    )
    assert one.refused is other.refused
    assert list(likeness.differences(one.value, other.value)) == []
