"""Metrics for Prometheus, scraped from the port of a gateway that is asked over both surfaces."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio
import yaml
from prometheus_client import values
from sqlalchemy import update
from sqlalchemy.exc import DBAPIError

from gateway.background.tasks import BackgroundTask
from gateway.monitoring import declarations as metrics
from gateway.monitoring.declarations import METRICS, Kind
from gateway.monitoring.meters import FOLDER_VARIABLE, Meters, Shared
from oauth.credentials import digest
from oauth.scopes import Scope
from rest_compat.api import operation_routes
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow
from tests.support.callers.leaving import give_up
from tests.support.callers.surfaces import GraphQL, Refused, Rest
from tests.support.measures.scraping import Scraped, difference
from tests.support.servers.gateways import Gateway, Tenant, make_tenant, run_gateway

DOCS = Path(__file__).parents[2] / "docs"
NAME = re.compile(r"\bduograph_[a-z_]+\b")


@pytest_asyncio.fixture(scope="module")
async def monitored(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    folder = tmp_path_factory.mktemp("monitored")
    async for gateway in run_gateway(database_url, folder, metrics_port=0, rate_limit=1000):
        yield gateway


@pytest_asyncio.fixture
async def owner(monitored: Gateway) -> Tenant:
    return await make_tenant(monitored)


async def scrape(gateway: Gateway) -> Scraped:
    listener = gateway.app.monitoring.listener
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    return Scraped.of(await gateway.client.get(f"{address}/metrics"))


async def test_every_declared_metric_is_exported(monitored: Gateway, owner: Tenant) -> None:
    await Rest(monitored.client, monitored.app, owner.token).list_shares()
    scraped = await scrape(monitored)
    assert scraped.kinds == {metric.name: str(metric.kind) for metric in METRICS}
    gauges = {metric.exported for metric in METRICS if metric.kind is Kind.GAUGE}
    assert gauges <= {name for name, _ in scraped.samples}


async def test_requests_are_counted_by_operation_surface_and_outcome(
    monitored: Gateway, owner: Tenant
) -> None:
    before = await scrape(monitored)
    rest = Rest(monitored.client, monitored.app, owner.token)
    graphql = GraphQL(monitored.client, monitored.app, owner.token)
    for surface in (rest, graphql):
        await surface.list_shares()
        with pytest.raises(Refused):
            await surface.get_share(id=str(uuid4()))
        with pytest.raises(Refused):
            await surface.create_share(data={"name": ""})
    await monitored.client.get("/sign-in")
    await monitored.client.get("/health")
    grown, name = difference(before, await scrape(monitored)), "duograph_requests_total"
    assert grown(name, surface="rest", operation="list_shares", outcome="ok") == 1
    assert grown(name, surface="rest", operation="get_share", outcome="refused") == 1
    assert grown(name, surface="rest", operation="create_share", outcome="refused") == 1
    assert grown(name, surface="graphql", operation="document", outcome="ok") == 1
    assert grown(name, surface="graphql", operation="document", outcome="refused") == 2
    assert grown(name, surface="page", operation="other", outcome="ok") == 2
    fields = "duograph_graphql_fields_total"
    assert grown(fields, operation="list_shares", outcome="ok") == 1
    assert grown(fields, operation="get_share", outcome="refused") >= 1
    seconds = {"surface": "rest", "operation": "list_shares"}
    assert grown("duograph_request_seconds_count", **seconds) == 1
    assert grown("duograph_request_seconds_bucket", le="+Inf", **seconds) == 1
    assert grown("duograph_request_seconds_sum", **seconds) > 0


async def test_a_caller_that_goes_away_is_counted_as_disconnected(monitored: Gateway, owner: Tenant) -> None:
    before = await scrape(monitored)
    assert await give_up(monitored.app, owner.token) == []
    grown = difference(before, await scrape(monitored))
    labels = {"surface": "rest", "operation": "create_share", "outcome": "disconnected"}
    assert grown("duograph_requests_total", **labels) == 1


@pytest.mark.both_databases
async def test_a_field_that_found_its_credential_changed_is_counted_when_it_runs_again(
    monitored: Gateway, owner: Tenant
) -> None:
    graphql = GraphQL(monitored.client, monitored.app, owner.token)
    for _ in range(2):
        await graphql.list_shares()
    table = table_of(CredentialRow)
    async with monitored.database.write() as connection:
        statement = update(table).where(table.c.hash == digest(owner.token))
        await connection.execute(statement.values(scopes=[Scope.SHARES_READ]))
    before = await scrape(monitored)
    await graphql.list_shares()
    grown, fields = difference(before, await scrape(monitored)), "duograph_graphql_fields_total"
    assert grown(fields, operation="list_shares", outcome="ok") == 1
    assert grown(fields, operation="list_shares", outcome="failed") == 0


async def test_no_label_has_what_a_caller_sent(monitored: Gateway, owner: Tenant) -> None:
    marker = f"zq{uuid4().hex}"
    headers = {"Authorization": f"Bearer {marker}", "X-Request-Id": marker}
    await monitored.client.request(marker.upper(), f"/{marker}", headers=headers)
    await monitored.client.get(f"/api/{marker}", params={marker: marker})
    await monitored.client.post("/graphql", json={"query": f"query {marker} {{ {marker}: {marker} }}"})
    as_owner = {"Authorization": f"Bearer {owner.token}"}
    query = f"query {marker} {{ {marker}: shares {{ data {{ id }} }} }}"
    await monitored.client.post("/graphql", json={"query": query}, headers=as_owner)
    await monitored.client.get(f"/api/shares/{marker}", headers=as_owner)
    scraped = await scrape(monitored)
    assert marker not in scraped.text.lower()
    assert scraped.values_of("operation") <= {*operation_routes(), "document", "other"}
    outcomes = {"ok", "refused", "rate_limited", "failed", "unavailable", "disconnected"}
    assert scraped.values_of("outcome") <= {*outcomes, "sent", "succeeded", "postponed", "given_up"}


async def test_security_events_are_counted(monitored: Gateway, owner: Tenant) -> None:
    before, name = await scrape(monitored), "duograph_security_events_total"
    for surface in (Rest, GraphQL):
        with pytest.raises(Refused):
            await surface(monitored.client, monitored.app, None).list_shares()
        asking = surface(monitored.client, monitored.app, owner.token)
        customer = await asking.create_customer(data={"email": f"{uuid4().hex}@example.com"})
        await asking.delete_customer(id=customer["id"])
    grown = difference(before, await scrape(monitored))
    # Other gateways of this process count too.
    assert grown(name, event="access", outcome="refused") >= 2
    assert grown(name, event="delete_customer", outcome="ok") >= 2


async def test_charges_that_do_not_fit_are_counted(monitored: Gateway) -> None:
    before, tenant = await scrape(monitored), await make_tenant(monitored, requests_per_minute=2)
    rest = Rest(monitored.client, monitored.app, tenant.token)
    statuses = []
    for _ in range(1001):
        try:
            await rest.list_custom_fields()
        except Refused as refused:
            statuses.append(refused.status)
            break
    grown = difference(before, await scrape(monitored))
    assert statuses == [429]
    assert grown("duograph_refused_charges_total", budget="default") == 1
    labels = {"surface": "rest", "operation": "list_custom_fields", "outcome": "rate_limited"}
    assert grown("duograph_requests_total", **labels) == 1


async def test_connections_in_use_and_units_that_wait_are_shown(monitored: Gateway) -> None:
    async with monitored.database.read(), monitored.database.read():
        scraped = await scrape(monitored)
    assert scraped.value("duograph_database_connections", pool="primary", state="used") >= 2
    assert scraped.value("duograph_database_connections_most", pool="primary") == 20
    assert scraped.value("duograph_database_waiting", pool="primary") == 0


async def test_a_failed_piece_of_background_work_is_counted(monitored: Gateway) -> None:
    tasks: list[BackgroundTask] = monitored.app.monitoring.sources.tasks
    (task,) = [task for task in tasks if task.name == "retention"]
    before, run = await scrape(monitored), task.run

    failed = asyncio.Event()

    async def fail() -> bool:
        task.run = run
        failed.set()
        raise DBAPIError("a statement", {}, Exception()) from ValueError("a secret")

    task.run = fail
    task.wake()
    await failed.wait()
    grown = difference(before, await scrape(monitored))
    assert grown("duograph_background_failures_total", task="retention", reason="ValueError") == 1


async def test_only_the_metrics_are_on_their_port(monitored: Gateway) -> None:
    host, port = monitored.app.monitoring.listener.getsockname()
    assert host == "127.0.0.1"
    address = f"http://127.0.0.1:{port}"
    assert (await monitored.client.get(f"{address}/api/shares/")).status_code == 404
    assert (await monitored.client.post(f"{address}/metrics")).status_code == 405
    assert (await monitored.client.get("/metrics")).status_code == 404


async def test_a_connection_that_prometheus_keeps_ends_with_the_gateway(
    database_url: str, tmp_path: Path
) -> None:
    async for gateway in run_gateway(database_url, tmp_path, metrics_port=0):
        address = gateway.app.monitoring.listener.getsockname()
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        # While a request arrives, no time limit ends the connection.
        writer.write(b"GET /metrics HTTP/1.1\r\n")
    assert (await reader.read()).startswith(b"# HELP ")
    writer.close()


async def test_without_settings_nothing_watches(gateway: Gateway) -> None:
    monitoring = gateway.app.monitoring
    assert (monitoring.watch, monitoring.statement_watch, monitoring.listener) == (None, None, None)


def test_places_add_up_and_outlive_their_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Processes have their own; here, several places are in one.
    monkeypatch.setattr(values, "ValueClass", values.ValueClass)
    monkeypatch.setenv(FOLDER_VARIABLE, "")
    shared, labels = Shared(tmp_path), ("rest", "list_shares")

    def serve(place: int, requests: int, resident: int) -> Meters:
        shared.take(place)
        meters = Meters(shared)
        for _ in range(requests):
            meters.count(metrics.REQUESTS, (*labels, "ok"))
            meters.observe(metrics.SECONDS, labels, 0.5)
        meters.tell(metrics.RUNS, requests, "fold")
        meters.tell(metrics.RESIDENT, resident)
        meters.tell(metrics.FOLD_LAG, requests)
        return meters

    def read(meters: Meters) -> list[float]:
        text, _ = meters.written("")
        scraped = Scraped.of(httpx.Response(200, content=text))
        return [
            scraped.value("duograph_requests_total", surface="rest", operation="list_shares", outcome="ok"),
            scraped.value("duograph_request_seconds_sum", surface="rest", operation="list_shares"),
            scraped.value("duograph_background_runs_total", task="fold"),
            scraped.value("duograph_resident_bytes"),
            scraped.value("duograph_fold_lag_seconds"),
        ]

    meters = serve(0, 5, 100)
    serve(1, 7, 200)
    assert read(meters) == [12, 6, 12, 300, 5]
    shared.free(1)
    assert read(meters) == [12, 6, 12, 100, 5]
    serve(1, 1, 50)
    assert read(meters) == [13, 6.5, 13, 150, 1]


def expressions(value: Any) -> Iterator[str]:
    """The queries in a dashboard or in rules."""
    if isinstance(value, dict):
        yield from (value["expr"],) if "expr" in value else ()
        for item in value.values():
            yield from expressions(item)
    elif isinstance(value, list):
        for item in value:
            yield from expressions(item)


async def test_dashboard_and_alerts_ask_for_what_is_exported(monitored: Gateway) -> None:
    dashboard = json.loads((DOCS / "monitoring" / "dashboard.json").read_text("utf-8"))
    rules = yaml.safe_load((DOCS / "monitoring" / "alerts.yml").read_text("utf-8"))
    asked = {name for part in (dashboard, rules) for expr in expressions(part) for name in NAME.findall(expr)}
    kinds = (await scrape(monitored)).kinds
    suffixes = {"counter": "_total", "histogram": "_bucket", "gauge": ""}
    assert asked == {name + suffixes[kind] for name, kind in kinds.items()}


def test_the_page_explains_each_alert() -> None:
    rules = yaml.safe_load((DOCS / "monitoring" / "alerts.yml").read_text("utf-8"))
    alerts = [rule["alert"] for group in rules["groups"] for rule in group["rules"]]
    page = (DOCS / "monitoring.md").read_text("utf-8")
    assert re.findall(r"^\| `(Duograph\w+)` \|", page, re.MULTILINE) == alerts
