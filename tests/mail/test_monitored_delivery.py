"""Attempts to deliver emails, as metrics count them and traces show them."""

from collections import Counter

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gateway.mail.delivery import GIVE_UP_AFTER
from gateway.monitoring.tracing import Tracing
from storage.clock import now
from tests.support.servers.mail_server import MailServer

pytestmark = pytest.mark.both_databases


async def test_each_attempt_is_counted_by_its_outcome_and_has_a_span(post, server):
    exporter, provider, outcomes = InMemorySpanExporter(), TracerProvider(), Counter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing = Tracing(provider)
    tracing.start()
    stopped = await MailServer().start()
    await stopped.stop()

    async def deliver(mail_server: MailServer) -> None:
        await post.make_due()
        await post.delivery(mail_server, outcomes=outcomes, tracing=tracing).run()

    await post.write("ada@example.com", "A secret subject", text="A secret text")
    await deliver(stopped)
    await deliver(server)
    await post.write()
    await post.change(created_at=now() - 2 * GIVE_UP_AFTER)
    await deliver(stopped)
    assert outcomes == {"postponed": 1, "sent": 1, "given_up": 1}
    spans = exporter.get_finished_spans()
    assert [span.name for span in spans] == ["deliver mail"] * 3
    assert [dict(span.attributes or {}) for span in spans] == [
        {"duograph.mail.attempt": 1, "duograph.outcome": "postponed"},
        {"duograph.mail.attempt": 2, "duograph.outcome": "sent"},
        {"duograph.mail.attempt": 1, "duograph.outcome": "given_up"},
    ]
    written = "".join(span.to_json() for span in spans)
    assert "secret" not in written
    assert "ada@example.com" not in written
