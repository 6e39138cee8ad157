"""A query runs the resolvers of its fields once, also when it is the first with its document."""

from functools import partial

import pytest
import pytest_asyncio

from resolvers.graph.execution.planned import fields as planned_fields
from tests.support.callers.examples import EXAMPLES
from tests.support.callers.surfaces import GraphQL
from tests.support.callers.world import world_of
from tests.support.servers.gateways import make_tenant
from tests.surfaces.test_permissions import caller_for

READS = sorted(name for name in EXAMPLES if name.startswith(("get_", "list_")))


@pytest_asyncio.fixture(scope="module")
async def world(gateway):
    tenant = await make_tenant(gateway)
    return tenant, await world_of(gateway, tenant)


@pytest.fixture
def runs(monkeypatch):
    """The operations that have been run since the test began."""
    names = []

    def noting(run):
        async def noted(operation, ctx, arguments):
            names.append(operation.name)
            return await run(operation, ctx, arguments)

        return noted

    monkeypatch.setattr(planned_fields, "run", noting(planned_fields.run))
    return names


@pytest.mark.parametrize("name", READS)
async def test_a_new_document_runs_its_resolver_once(gateway, world, runs, name):
    tenant, made = world
    caller = partial(GraphQL, gateway.client, gateway.app)
    surface = await caller_for(caller, gateway, tenant, name, made.customer_token)
    gateway.app.state.schema.documents.parsed.clear()
    for _ in range(3):
        runs.clear()
        await surface.ask(name, EXAMPLES[name](made))
        assert runs == [name]
