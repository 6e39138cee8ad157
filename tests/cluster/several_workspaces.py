"""What is read of several workspaces on a cluster at once."""

from collections.abc import Mapping
from typing import Any

import pytest

from storage.engine.connections import Connection
from storage.engine.statements.kept import Kept
from tests.support.servers.gateways import bearer, make_tenant, run_gateway
from tests.support.tenants.membership import join_too

DAYS = "start_timestamp=2026-01-01T05:30:00Z&end_timestamp=2026-11-20T07:20:00Z"


@pytest.mark.parametrize(
    ("path", "totals", "deltas"),
    [
        ("shares/", "list_totals", "list_total_deltas"),
        (f"events/?{DAYS}", "event_counts", "event_deltas"),
        ("events/names", "event_names", "event_deltas"),
    ],
)
async def test_each_shard_reads_its_totals_and_the_deltas_that_wait_for_them_at_once(
    cluster_url: str, tmp_path_factory: Any, monkeypatch: Any, path: str, totals: str, deltas: str
) -> None:
    asked: list[tuple[str, list[Any]]] = []
    fetch = Connection.fetch

    def noted_fetch(connection: Connection, kept: Kept, values: Mapping[str, Any]) -> Any:
        written = kept.on(connection.dialect)
        asked.append((written.text, written.arguments(values)))
        return fetch(connection, kept, values)

    async for gateway in run_gateway(cluster_url, tmp_path_factory.mktemp("several")):
        tenant = await make_tenant(gateway)
        for other in [await make_tenant(gateway) for _ in range(2)]:
            await join_too(gateway, tenant, other)
        with monkeypatch.context() as patching:
            patching.setattr(Connection, "fetch", noted_fetch)
            answer = await gateway.client.get(f"/api/{path}", headers=bearer(tenant.personal_token))
            assert answer.status_code == 200
        ((text, arguments),) = [each for each in asked if f"FROM {totals}" in each[0]]
        async with gateway.database.read() as connection:
            plan = [
                line for (line,) in await connection.driver.fetch(f"EXPLAIN (VERBOSE) {text}", *arguments)
            ]
    tasks = [line for line in plan if "Query: " in line and f"{totals}_" in line]
    assert tasks
    assert all(f"{deltas}_" in task for task in tasks)
