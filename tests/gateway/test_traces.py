"""Traces of requests over both surfaces, in memory instead of sent by OTLP."""

from collections.abc import AsyncIterator
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path
from threading import Event
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from gateway.app import create_app
from gateway.monitoring import monitoring
from gateway.monitoring.tracing import Tracing
from gateway.settings.settings import Settings, SettingsError
from tests.support.callers.examples import EXAMPLES
from tests.support.callers.leaving import give_up
from tests.support.callers.surfaces import GraphQL, Refused, Rest
from tests.support.callers.world import make_world
from tests.support.measures.patience import until
from tests.support.measures.request_log import request_log
from tests.support.servers.gateways import Gateway, Tenant, make_tenant, run_gateway
from tests.support.servers.receiver import Receiver

pytestmark = pytest.mark.both_databases

PARENT = "00f067aa0ba902b7"


class Traced:
    """A gateway with the spans that have ended."""

    def __init__(self, gateway: Gateway, exporter: InMemorySpanExporter, tenant: Tenant) -> None:
        self.gateway, self.exporter, self.tenant = gateway, exporter, tenant
        self.rest = Rest(gateway.client, gateway.app, tenant.token)
        self.graphql = GraphQL(gateway.client, gateway.app, tenant.token)

    def of_trace(self, trace: str) -> list[ReadableSpan]:
        return [
            span for span in self.exporter.get_finished_spans() if span.context.trace_id == int(trace, 16)
        ]


def named(spans: list[ReadableSpan], name: str) -> ReadableSpan:
    (span,) = [span for span in spans if span.name == name]
    return span


def own_trace() -> tuple[str, str]:
    """A trace id that no other test uses, and its header."""
    trace = uuid4().hex
    return trace, f"00-{trace}-{PARENT}-01"


@pytest_asyncio.fixture(scope="module")
async def exporter_and_gateway(
    database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[InMemorySpanExporter, Gateway]]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    folder = tmp_path_factory.mktemp("traced")
    settings: dict[str, Any] = {"traces": True, "access_log": True}
    async for gateway in run_gateway(database_url, folder, tracer_provider=provider, **settings):
        yield exporter, gateway


@pytest_asyncio.fixture
async def traced(exporter_and_gateway: tuple[InMemorySpanExporter, Gateway]) -> Traced:
    exporter, gateway = exporter_and_gateway
    return Traced(gateway, exporter, await make_tenant(gateway))


async def test_a_request_over_rest_has_its_operation_and_statements_below_it(traced: Traced) -> None:
    trace, header = own_trace()
    await traced.rest.create_share(data={"name": "Traced", "prices": [{"amount_type": "free"}]})
    await traced.rest.with_headers(traceparent=header).list_shares()
    spans = traced.of_trace(trace)
    request, operation = named(spans, "GET /api/shares/"), named(spans, "list_shares")
    assert request.kind is SpanKind.SERVER
    assert dict(request.attributes or {}) == {
        "http.request.method": "GET",
        "http.route": "/api/shares/",
        "http.response.status_code": 200,
        "duograph.surface": "rest",
        "duograph.operation": "list_shares",
    }
    assert request.parent is not None
    assert f"{request.parent.span_id:016x}" == PARENT
    assert operation.parent == request.context
    below = [span for span in spans if span.parent == operation.context]
    assert {span.name for span in below} == {"SELECT"}
    assert all(span.kind is SpanKind.CLIENT for span in below)
    texts = [str((span.attributes or {})["db.query.text"]) for span in below]
    assert any("share_prices" in text for text in texts)


async def test_each_root_field_of_a_document_has_its_own_operation(traced: Traced) -> None:
    trace, header = own_trace()
    query = "query Secret { a: shares { data { id } } b: shares { data { id } } viewer { kind } }"
    headers = {"Authorization": f"Bearer {traced.tenant.token}", "traceparent": header}
    for _ in range(2):  # By the stock executor, and by a plan.
        await traced.gateway.client.post("/graphql", json={"query": query}, headers=headers)
    spans = traced.of_trace(trace)
    assert sum(span.name == "POST /graphql" for span in spans) == 2
    assert sum(span.name == "list_shares" for span in spans) == 4
    assert sum(span.name == "get_viewer" for span in spans) == 2


async def test_a_change_is_traced_until_its_commit(traced: Traced) -> None:
    for surface in (traced.rest, traced.graphql):
        trace, header = own_trace()
        field = {"type": "text", "name": "Size", "slug": f"s-{uuid4().hex}"}
        await surface.with_headers(traceparent=header).create_custom_field(data=field)
        spans = traced.of_trace(trace)
        operation = named(spans, "create_custom_field")
        below = [span.name for span in spans if span.parent == operation.context]
        assert "INSERT" in below
        assert below[-1] == "COMMIT"


async def test_the_line_of_a_request_has_the_trace_that_its_header_names(traced: Traced) -> None:
    trace, header = own_trace()
    with request_log() as lines:
        await traced.rest.with_headers(traceparent=header).list_shares()
        await traced.rest.list_shares()
        await traced.rest.with_headers(traceparent="zz-not-one").list_shares()
        ids = [line["trace_id"] for line in lines() if line["path"] == "/api/shares/"]
    assert ids[0] == trace
    assert len(set(ids)) == 3
    assert all(len(id) == 32 for id in ids)


async def test_a_trace_that_its_caller_does_not_record_is_not_recorded_here(traced: Traced) -> None:
    trace = uuid4().hex
    asking = traced.rest.with_headers(traceparent=f"00-{trace}-{PARENT}-00")
    with request_log() as lines:
        await asking.list_shares()
        ids = [line["trace_id"] for line in lines() if line["path"] == "/api/shares/"]
    assert ids == [trace]
    assert traced.of_trace(trace) == []


async def test_a_request_that_its_caller_gives_up_has_a_span_without_a_status(traced: Traced) -> None:
    trace, header = own_trace()
    await give_up(traced.gateway.app, traced.tenant.token, (b"traceparent", header.encode()))
    request = named(traced.of_trace(trace), "POST /api/shares/")
    assert "http.response.status_code" not in (request.attributes or {})
    assert request.status.status_code is StatusCode.UNSET


async def test_nothing_that_a_caller_sent_is_in_a_span(traced: Traced) -> None:
    world = await make_world(
        traced.rest,
        Rest(traced.gateway.client, traced.gateway.app, traced.tenant.personal_token),
        traced.tenant,
    )
    marker = f"Zq{uuid4().hex}"
    texts = {"tracestate": f"a={marker}", "baggage": f"b={marker}"}
    sent = {**texts, "X-Request-Id": marker, "User-Agent": marker}
    client, path = traced.gateway.client, f"/api/shares/{marker}?{marker}={marker}"
    for surface in (traced.rest, traced.graphql):
        for operation in ("create_share", "create_customer", "update_workspace", "list_events", "get_share"):
            arguments = marked(EXAMPLES[operation](world), marker)
            with suppress(Refused):
                await surface.with_headers(**sent).ask(operation, arguments)
    await client.request(marker.upper(), path, headers={**sent, "Cookie": f"{marker}={marker}"})
    await client.get("/reset-password", params={"token": marker}, headers=sent)
    query = f'query {marker} {{ {marker}: customers(email: "{marker}@example.com") {{ data {{ id }} }} }}'
    authorized = {**sent, "Authorization": f"Bearer {traced.tenant.token}"}
    for _ in range(2):
        await client.post("/graphql", json={"query": query}, headers=authorized)
    written = "".join(span.to_json() for span in traced.exporter.get_finished_spans())
    assert len(written) > 10_000
    assert marker.lower() not in written.lower()
    assert traced.tenant.token not in written
    assert traced.tenant.user_email not in written


def marked(value: Any, marker: str, key: str = "") -> Any:
    """Arguments with the marker in their texts."""
    if isinstance(value, dict):
        return {name: marked(item, marker, name) for name, item in value.items()}
    if isinstance(value, list):
        return [marked(item, marker, key) for item in value]
    if key == "email":
        return f"{marker}@example.com"
    return marker if key in ("name", "description", "external_id") and isinstance(value, str) else value


async def test_an_unforeseen_error_marks_its_spans_without_its_message(
    traced: Traced, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, (trace, header) = uuid4().hex, own_trace()

    async def fail(*_: Any, **__: Any) -> None:
        raise ValueError(secret)

    monkeypatch.setattr("resolvers.operations.idempotency.find", fail)
    asking = traced.rest.with_headers(traceparent=header, Idempotency_Key=uuid4().hex)
    with pytest.raises(Refused) as refused:
        await asking.create_custom_field(data={"type": "text", "name": "Size", "slug": "size"})
    assert refused.value.status == 500
    spans = traced.of_trace(trace)
    assert named(spans, "create_custom_field").status.status_code is StatusCode.ERROR
    assert named(spans, "POST /api/custom-fields/").status.status_code is StatusCode.ERROR
    assert secret not in "".join(span.to_json() for span in spans)


async def test_a_collector_that_does_not_answer_holds_no_stop_up(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.monitoring.tracing.SECONDS_TO_SEND", 0.01)
    exporter, answers = InMemorySpanExporter(), Event()
    # Waits for an answer that comes only when the gateway has stopped.
    monkeypatch.setattr(exporter, "shutdown", lambda: answers.wait(3600))
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    async for gateway in run_gateway(database_url, tmp_path, tracer_provider=provider, traces=True):
        assert (await gateway.client.get("/health")).status_code == 200
    assert not answers.is_set()
    answers.set()


def test_traces_without_their_packages_say_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.monitoring.tracing.SDK", "opentelemetry.not_installed")
    settings = Settings(database_url=f"sqlite+aiosqlite:///{tmp_path}/a.sqlite", traces=True)
    assert monitoring.Monitoring(settings, TracerProvider()).tracing is not None
    with pytest.raises(SettingsError, match=r"pip install 'duograph\[traces\]'"):
        create_app(settings)


def test_a_span_that_ends_elsewhere_leaves_that_place_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing = Tracing(provider)
    tracing.start()
    span = copy_context().run(tracing.begin_operation, "left behind")
    assert span is not None
    copy_context().run(span.end, 200)
    assert [each.name for each in exporter.get_finished_spans()] == ["left behind"]
    assert caplog.records == []


def test_a_process_that_has_not_started_to_serve_begins_no_span() -> None:
    tracing = Tracing(TracerProvider(shutdown_on_exit=False))
    assert tracing.begin("GET", None) is None
    assert tracing.begin_operation("list_shares") is None
    assert tracing.begin_delivery(1) is None
    assert tracing.statement("SELECT 1") is None
    tracing.start()
    assert tracing.begin_delivery(1) is not None


@pytest.mark.parametrize(("variable", "name"), [("", "duograph"), ("shop", "shop")])
async def test_spans_are_sent_over_otlp_by_the_name_of_the_service(
    variable: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector = await Receiver().start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.removesuffix("/hooks"))
    monkeypatch.setenv("OTEL_SERVICE_NAME", variable)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    tracing = Tracing()
    tracing.start()
    span = copy_context().run(tracing.begin_delivery, 1)
    assert span is not None
    copy_context().run(span.end)
    await tracing.close()

    async def sent() -> bool:
        return collector.received != []

    await until(sent)
    await collector.stop()
    (request,) = collector.received
    (of_service,) = ExportTraceServiceRequest.FromString(request.body).resource_spans
    names = {each.key: each.value.string_value for each in of_service.resource.attributes}
    assert (request.path, names["service.name"]) == ("/v1/traces", name)
    assert [each.name for each in of_service.scope_spans[0].spans] == ["deliver mail"]
