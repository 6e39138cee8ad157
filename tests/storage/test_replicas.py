"""A streaming replica: who it answers, and what callers notice while it lags, hangs or is down."""

import asyncio
import os
import signal
from uuid import UUID

import httpx
import pytest
import pytest_asyncio
from sqlalchemy.exc import DBAPIError
from structlog.testing import capture_logs

from storage.clock import now
from tests.support.callers.surfaces import GraphQL, Rest
from tests.support.commands.command import Command
from tests.support.commands.serving import serving, started
from tests.support.measures.patience import until
from tests.support.measures.scraping import Scraped
from tests.support.servers.gateways import SECRET, make_tenant, run_gateway
from tests.support.servers.replicas import Pair, until_it_is
from tests.support.servers.tcp_proxy import Cut

YEARS = {"start_date": "1973-01-01", "end_date": "2200-12-31", "interval": "year"}
ACTIVE_USERS = {**YEARS, "metrics": ["active_user_by_event"]}
REST_AND_GRAPHQL = pytest.mark.parametrize("surface_type", [Rest, GraphQL], ids=["rest", "graphql"])


@pytest_asyncio.fixture(scope="module")
async def pair():
    async with Pair.running() as servers:
        yield servers


@pytest_asyncio.fixture(scope="module")
async def replicated(pair, tmp_path_factory):
    """A gateway that uses the replica."""
    folder = tmp_path_factory.mktemp("replicated")
    settings = {"database_read_url": pair.read_url, "metrics_port": 0}
    async for gateway in run_gateway(pair.primary.url, folder, **settings):
        await until_it_is("used", gateway)
        yield gateway


async def processes_by_state(gateway):
    """How many processes Prometheus sees in each state of which there are any."""
    port = gateway.app.monitoring.listener.getsockname()[1]
    scraped = Scraped.of(await gateway.client.get(f"http://127.0.0.1:{port}/metrics"))
    many = {of: scraped.value("duograph_replica_processes", state=of) for of in scraped.values_of("state")}
    return {state: number for state, number in many.items() if number}


async def is_used(gateway):
    return await processes_by_state(gateway) == {"used": 1}


class Reader:
    """A caller over one surface, with an event in a workspace of its own that other hosts rename."""

    def __init__(self, pair, gateway, tenant, surface):
        self.pair, self.gateway, self.tenant, self.surface = pair, gateway, tenant, surface
        self.rest = Rest(gateway.client, gateway.app, tenant.token)

    async def ingest(self, name, customer):
        await self.surface.ingest_events(data={"events": [{"name": name, "external_customer_id": customer}]})

    async def names(self):
        return sorted([event["name"] for event in (await self.surface.list_events())["data"]])

    async def active_users(self):
        """The customers with an event, as metrics and as their export count them."""
        (measured,) = (await self.surface.get_metrics(**ACTIVE_USERS))["totals"].values()
        headers = {"Authorization": f"Bearer {self.tenant.token}"}
        export = await self.gateway.client.get("/api/metrics/export", params=ACTIVE_USERS, headers=headers)
        assert export.status_code == 200
        return measured, int(export.text.splitlines()[-1].rpartition(",")[2])

    async def read_all(self):
        """What the reads say that a replica may answer: the names of events thrice, and active users."""
        events = (await self.surface.list_events())["data"]
        each = [await self.surface.get_event(id=event["id"]) for event in events]
        kinds = (await self.surface.list_event_names())["data"]
        names = [sorted([named["name"] for named in rows]) for rows in (events, each, kinds)]
        return *names, await self.active_users()

    async def is_answered_by_replica(self):
        """Whether the caller does not see what another host writes while the replica lags."""
        async with self.pair.lagging():
            await self.rename("on another host")
            names = await self.names()
            await self.rename("seen")
        return names == ["seen"]

    async def rename(self, name):
        await self.pair.rename_events(self.tenant, name)


@pytest_asyncio.fixture
async def reader(pair, replicated, surface_type):
    """A caller whom the replica answers."""
    tenant = await make_tenant(replicated)
    made = Reader(pair, replicated, tenant, surface_type(replicated.client, replicated.app, tenant.token))
    await made.ingest("seen", "ada")
    await until(made.is_answered_by_replica)
    return made


@REST_AND_GRAPHQL
async def test_callers_read_their_own_changes_while_the_replica_lags(pair, reader):
    async with pair.lagging():
        await reader.ingest("sent", "bob")
        names = ["seen", "sent"]
        assert await reader.read_all() == (names, names, names, (2, 2))


@REST_AND_GRAPHQL
async def test_the_own_changes_of_a_user_are_read_by_every_credential(pair, reader):
    personal = reader.surface.with_token(reader.tenant.personal_token)
    data = {"events": [{"name": "sent", "external_customer_id": "bob"}], "workspace_id": reader.tenant.id}
    async with pair.lagging():
        await personal.ingest_events(data=data)
        assert await reader.names() == ["seen", "sent"]
        assert len((await personal.list_events())["data"]) == 2


@REST_AND_GRAPHQL
async def test_changes_of_others_do_not_keep_callers_from_the_replica(pair, replicated, reader):
    async def is_answered_by_replica():
        """Another workspace may have the same slot, and a machine that stalls sets the replica aside."""
        other = await make_tenant(replicated)
        async with pair.lagging():
            await reader.rename("on another host")
            writer = Reader(pair, replicated, other, reader.surface.with_token(other.token))
            await writer.ingest("sent", "bob")
            names = await reader.names()
            await reader.rename("seen")
        return names == ["seen"]

    await until(is_answered_by_replica)


@REST_AND_GRAPHQL
async def test_changes_of_events_are_read_from_the_primary(pair, reader):
    async with pair.lagging():
        await reader.rename("on another host")
        for changes in (
            {"modified_since": "2026-01-31T09:30:00Z"},
            {"modified_before": now().isoformat()},
            {"sorting": ["modified_at"]},
            {"sorting": ["timestamp", "-modified_at"]},
        ):
            listed = await reader.surface.list_events(**changes)
            assert [event["name"] for event in listed["data"]] == ["on another host"], changes


@pytest.mark.long
@REST_AND_GRAPHQL
async def test_the_primary_answers_while_the_replica_is_stopped(pair, reader):
    seen = ["seen"], ["seen"], ["seen"], (1, 1)
    with capture_logs() as lines:
        await until_it_is("used", reader.gateway)
        async with pair.stopped():
            assert await reader.read_all() == seen
            await until_it_is("set_aside", reader.gateway)
            assert await reader.read_all() == seen
            assert await processes_by_state(reader.gateway) == {"set_aside": 1}
        await until(reader.is_answered_by_replica)
        await until(lambda: is_used(reader.gateway))
    told = [line["event"] for line in lines if "replica" in line["event"]]
    # A machine that stalls sets the replica aside before, too.
    assert told[told.index("replica set aside") :][:2] == ["replica set aside", "replica used again"]


@pytest.mark.long
@REST_AND_GRAPHQL
async def test_a_replica_that_freezes_under_reads_is_set_aside(pair, reader):
    pair.replica.send(signal.SIGSTOP)
    try:
        reads = await asyncio.gather(*(reader.read_all() for _ in range(8)))
        await until_it_is("set_aside", reader.gateway)
    finally:
        pair.replica.send(signal.SIGCONT)
    assert reads == [(["seen"], ["seen"], ["seen"], (1, 1))] * 8
    await until(reader.is_answered_by_replica)


@pytest.mark.long
@pytest.mark.parametrize("part", [b"BEGIN", b"COMMIT", None], ids=["begin", "commit", "values"])
@REST_AND_GRAPHQL
async def test_a_read_that_is_cut_on_the_replica_is_repeated_on_the_primary(pair, reader, part):
    cut = []
    # Prepared statements come without their texts, but all have the workspace among their values.
    part = part or UUID(reader.tenant.id).bytes

    def choose(chunk):
        if part not in chunk:
            return None
        cut.append(chunk)
        return Cut.AFTER

    async def are_cut():
        """A machine that stalls sets the replica aside, which then is not asked."""
        assert await reader.read_all() == (["seen"], ["seen"], ["seen"], (1, 1))
        grouped = await reader.surface.get_metrics(**ACTIVE_USERS, group_by="event_name")
        assert [group["key"] for group in grouped["groups"]] == ["seen"]
        return cut

    pair.proxy.choose = choose
    try:
        await until(are_cut)
    finally:
        pair.proxy.choose = lambda _: None


async def test_a_read_that_replay_cancels_is_repeated_on_the_primary(pair, replicated):
    ends = []

    async def read(connection):
        ((is_replica,),) = await connection.exec_driver_sql("SELECT pg_is_in_recovery()")
        await connection.exec_driver_sql("SELECT id FROM events LIMIT 1")
        if not is_replica:
            return ends.append("on the primary")
        locking = asyncio.to_thread(pair.primary.psql, "BEGIN; LOCK TABLE events; COMMIT")
        try:
            # A transaction that is idle when it is canceled loses its connection instead.
            await asyncio.gather(connection.exec_driver_sql("SELECT pg_sleep(60)"), locking)
        except DBAPIError as error:
            ends.append(error.orig.sqlstate)
            raise

    async def is_canceled_and_repeated():
        """A machine that stalls sets the replica aside, which is then not asked or cut instead."""
        ends.clear()
        await replicated.database.in_snapshot(read, replica_for=[])
        return ends == ["40001", "on the primary"]

    await replicated.database.replica._set_aside("x")
    with pair.canceling_reads():
        await until(is_canceled_and_repeated)


def test_the_doctor_says_whether_the_replica_is_one(pair, replicated, tmp_path):
    command = Command(tmp_path, {"DUOGRAPH_DATABASE_URL": pair.primary.url})
    report = command.json("doctor", DUOGRAPH_DATABASE_READ_URL=pair.replica.url)
    assert ("read replica", "a standby at the newest revision") in [
        (check["name"], check["message"]) for check in report["checks"]
    ]
    outcome = command.run("doctor", DUOGRAPH_DATABASE_READ_URL=pair.primary.url)
    assert outcome.status == 1
    assert "FAIL  read replica: It is not a standby server" in outcome.stdout


async def test_callers_read_what_they_changed_by_another_process(pair, replicated, tmp_path):
    tenant = await make_tenant(replicated)
    settings = {
        "DUOGRAPH_DATABASE_URL": pair.primary.url,
        "DUOGRAPH_DATABASE_READ_URL": pair.replica.url,
        "DUOGRAPH_SECRET_KEY": SECRET,
        "DUOGRAPH_RATE_LIMIT": "0",
    }
    command = Command(tmp_path, settings)
    with serving(command, "--workers", "2") as said:

        async def have_started():
            return len(started(command)) == 2

        await until(have_started)
        one, other = started(command)

        async def ask(process, method, path="", **body):
            """Ask one process, while the other is held up."""
            held = other if process == one else one
            headers = {"Authorization": f"Bearer {tenant.token}"}
            os.kill(held, signal.SIGSTOP)
            try:
                async with httpx.AsyncClient(base_url=said["url"], headers=headers) as client:
                    answer = await client.request(method, f"/api/events/{path}", **body)
            finally:
                os.kill(held, signal.SIGCONT)
            assert answer.is_success
            return answer.json()

        async def names(process):
            return [event["name"] for event in (await ask(process, "GET"))["data"]]

        async def send(process, name):
            await ask(process, "POST", "ingest", json={"events": [{"name": name}]})

        async def are_answered_by_replica():
            async with pair.lagging():
                await pair.rename_events(tenant, "on another host")
                seen = [await names(process) for process in (one, other)]
                await pair.rename_events(tenant, "seen")
            return seen == [["seen"], ["seen"]]

        await send(one, "seen")
        await until(are_answered_by_replica)
        async with pair.lagging():
            await send(one, "sent")
            assert sorted(await names(other)) == ["seen", "sent"]
