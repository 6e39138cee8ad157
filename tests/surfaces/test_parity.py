"""The same input over both surfaces: the same outcome, down to the place and wording of each problem."""

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rest_compat.api import operation_routes
from tests.support.gateways import make_tenant
from tests.support.inputs import data_for, filters_for
from tests.support.refusals import UNKNOWN_ID
from tests.support.surfaces import GraphQL, Refused, Rest

EXAMPLES = int(os.environ.get("EXAMPLES", "25"))
OPERATIONS = {name: route.operation for name, route in operation_routes().items()}


def arguments_for(operation: Any) -> st.SearchStrategy[dict[str, Any]]:
    parts = []
    for parameter in operation.parameters:
        if parameter.place == "filters":
            parts.append(filters_for(operation))
        elif parameter.place == "data":
            parts.append(st.fixed_dictionaries({"data": data_for(parameter.annotation)}))
        elif parameter.name.endswith("id") and parameter.name in path_of(operation):
            parts.append(st.fixed_dictionaries({parameter.name: st.sampled_from([UNKNOWN_ID, "x", "7"])}))
    return st.tuples(*parts).map(lambda found: {k: v for part in found for k, v in part.items()})


def path_of(operation: Any) -> str:
    return operation_routes()[operation.name].path


async def outcome(surface: Any, name: str, arguments: dict[str, Any]) -> Any:
    """What a caller learns, without the ids and moments that differ from workspace to workspace."""
    try:
        value = await surface.ask(name, arguments)
    except Refused as refused:
        if isinstance(refused.detail, list):
            # A query parameter is always a text, so inputs are compared as texts.
            problems = sorted(f"{e['loc']} {e['type']} {e['msg']} {e.get('input')}" for e in refused.detail)
            return refused.status, refused.code, [entry.lower() for entry in problems]
        return refused.status, refused.code, refused.detail
    return "done", sorted(value.value) if isinstance(value.value, dict) else None


@pytest.mark.parametrize("name", sorted(OPERATIONS))
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
async def test_both_surfaces_judge_alike(gateway, name, data):
    arguments = data.draw(arguments_for(OPERATIONS[name]))
    rest_home, graphql_home = await homes(gateway)
    rest = Rest(gateway.client, gateway.app, rest_home.token)
    graphql = GraphQL(gateway.client, gateway.app, graphql_home.token)
    assert await outcome(graphql, name, arguments) == await outcome(rest, name, arguments)


_HOMES: dict[int, Any] = {}


async def homes(gateway: Any) -> Any:
    """Two workspaces that live through the same calls, one over each surface."""
    if id(gateway) not in _HOMES:
        _HOMES[id(gateway)] = (await make_tenant(gateway), await make_tenant(gateway))
    return _HOMES[id(gateway)]
