"""Settings of monitoring: metrics for Prometheus, traces for OpenTelemetry, and slow statements."""

from typing import Annotated

from pydantic import BaseModel, Field


class MonitoringSettings(BaseModel):
    """Monitoring"""

    metrics_port: Annotated[
        int | None,
        Field(
            ge=0,
            le=65535,
            description="The port that serves `/metrics` to Prometheus, 0 for any free one. Without it, "
            "nothing is counted. [monitoring.md](monitoring.md) lists the metrics.",
        ),
    ] = None
    metrics_address: Annotated[
        str,
        Field(
            description="The address that `DUOGRAPH_METRICS_PORT` is bound to. Metrics need no credential: "
            "only Prometheus should reach it."
        ),
    ] = "127.0.0.1"
    traces: Annotated[
        bool,
        Field(
            description="Whether requests, operations, statements and emails are traced with OpenTelemetry. "
            "Needs `pip install duograph[traces]`; the variables `OTEL_...` of its SDK say where spans go."
        ),
    ] = False
    slow_statement_ms: Annotated[
        int,
        Field(
            ge=0,
            le=3_600_000,
            description="A statement that takes so many milliseconds is logged with its operation and "
            "without its values; 0 for none.",
        ),
    ] = 0
