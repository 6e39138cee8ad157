"""What Prometheus is told: every metric with its labels and how the numbers of several processes combine.

A label has few values: names of declared operations, tasks, caches and the words below, never a text of a
caller.
"""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Combine(StrEnum):
    """What one gateway reports of the numbers of its processes, in the words of Prometheus's library."""

    SUM = "sum"
    MIN = "min"
    MAX = "max"
    MOST_RECENT = "mostrecent"


@dataclass(frozen=True)
class Metric:
    """A metric with its name; a counter is exported with `_total` behind it."""

    name: str
    kind: Kind
    description: str
    labels: tuple[str, ...] = ()
    combine: Combine = Combine.SUM

    @property
    def exported(self) -> str:
        """The name of its samples; those of a histogram end with `_bucket`, `_sum` and `_count`."""
        return f"{self.name}_total" if self.kind is Kind.COUNTER else self.name


# Upper bounds of a request's duration, in seconds.
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

REQUESTS = Metric(
    "duograph_requests",
    Kind.COUNTER,
    "HTTP requests. `surface` is `rest`, `graphql` or `page`. `operation` is the name of an operation for "
    "`rest`, and `document` and `other` for the others. `outcome` is `ok`, `refused` (4xx), `rate_limited` "
    "(429), `failed` (5xx), `unavailable` (503) or `disconnected`; GraphQL counts by the worst error.",
    ("surface", "operation", "outcome"),
)
SECONDS = Metric(
    "duograph_request_seconds",
    Kind.HISTOGRAM,
    "Seconds from the headers of a request to the last byte of its answer.",
    ("surface", "operation"),
)
FIELDS = Metric(
    "duograph_graphql_fields",
    Kind.COUNTER,
    "Root fields of GraphQL documents that were run.",
    ("operation", "outcome"),
)
IN_PROGRESS = Metric("duograph_requests_in_progress", Kind.GAUGE, "Requests that are being answered.")
REFUSED_CHARGES = Metric(
    "duograph_refused_charges",
    Kind.COUNTER,
    "Charges that exceeded a limit: `budget` is `default`, `restricted`, `roof` (of all customers of a "
    "workspace, or OAuth clients of an owner) or `mails`.",
    ("budget",),
)
SECURITY_EVENTS = Metric(
    "duograph_security_events",
    Kind.COUNTER,
    "Lines of the audit log. `event` is `sign_in`, `access`, `password`, `consent`, `export`, `malware` or "
    "the name of a sensitive operation, `outcome` is `ok`, `refused` or `failed`.",
    ("event", "outcome"),
)
SLOW_STATEMENTS = Metric(
    "duograph_slow_statements",
    Kind.COUNTER,
    "Statements that took `DUOGRAPH_SLOW_STATEMENT_MS` or longer, logged or not.",
)
CONNECTIONS = Metric(
    "duograph_database_connections",
    Kind.GAUGE,
    "Connections of the pools: `state` is `used` or `free`.",
    ("pool", "state"),
)
MOST_CONNECTIONS = Metric(
    "duograph_database_connections_most",
    Kind.GAUGE,
    "How many connections the pools may open: `DUOGRAPH_DATABASE_POOL_SIZE` of each process.",
    ("pool",),
)
WAITING = Metric(
    "duograph_database_waiting", Kind.GAUGE, "Units of work that wait for a connection.", ("pool",)
)
REPLICA = Metric(
    "duograph_replica_processes",
    Kind.GAUGE,
    "Processes by how they use the read replica: `state` is `used`, `catching_up`, `set_aside` or, without a "
    "replica, `none`.",
    ("state",),
)
REPLICA_LAG = Metric(
    "duograph_replica_lag_seconds",
    Kind.GAUGE,
    "How long ago the oldest change of this gateway was made that the read replica does not hold; 0 if it "
    "holds all.",
    combine=Combine.MAX,
)
LOST_NODES = Metric(
    "duograph_nodes_lost",
    Kind.GAUGE,
    "Nodes of a cluster that do not answer: their workspaces are refused.",
    combine=Combine.MAX,
)
CACHED = Metric("duograph_cache_bytes", Kind.GAUGE, "Memory of caches, as they estimate it.", ("cache",))
RUNS = Metric("duograph_background_runs", Kind.COUNTER, "Runs of background tasks.", ("task",))
FAILURES = Metric(
    "duograph_background_failures",
    Kind.COUNTER,
    "Runs that failed, by the class of the error that caused it.",
    ("task", "reason"),
)
FOLD_LAG = Metric(
    "duograph_fold_lag_seconds",
    Kind.GAUGE,
    "How far metrics and totals may be behind: what was written longer ago is folded. On PostgreSQL it is "
    "known twice a minute.",
    combine=Combine.MIN,
)
MAILS = Metric(
    "duograph_mails",
    Kind.COUNTER,
    "Attempts to deliver an email: `outcome` is `sent`, `postponed` or `given_up`.",
    ("outcome",),
)
WEBHOOKS = Metric(
    "duograph_webhooks",
    Kind.COUNTER,
    "Attempts to deliver a webhook: `outcome` is `succeeded`, `postponed` or `given_up`.",
    ("outcome",),
)
LOOP_LAG = Metric(
    "duograph_event_loop_lag_seconds",
    Kind.GAUGE,
    "How late a timer of the busiest process ran, the latest of the last 15 s.",
    combine=Combine.MAX,
)
PROCESSES = Metric("duograph_processes", Kind.GAUGE, "Processes that serve.")
RESIDENT = Metric(
    "duograph_resident_bytes", Kind.GAUGE, "Memory of the processes; what they share counts for each."
)
PROCESSOR = Metric("duograph_processor_seconds", Kind.COUNTER, "Processor time of the processes.")
DATABASE_UP = Metric(
    "duograph_database_up",
    Kind.GAUGE,
    "1 if the database answered the questions below within 5 s. They are asked at most every 10 s.",
    combine=Combine.MOST_RECENT,
)
DATABASE_SECONDS = Metric(
    "duograph_database_answer_seconds",
    Kind.GAUGE,
    "Seconds that the database took to answer.",
    combine=Combine.MOST_RECENT,
)
DELTAS_WAITING = Metric(
    "duograph_deltas_waiting",
    Kind.GAUGE,
    "Facts that are not folded yet, counted up to 10,000.",
    combine=Combine.MOST_RECENT,
)
MAILS_WAITING = Metric(
    "duograph_mails_waiting",
    Kind.GAUGE,
    "Emails to be sent, counted up to 10,000.",
    combine=Combine.MOST_RECENT,
)
OLDEST_MAIL = Metric(
    "duograph_oldest_mail_seconds",
    Kind.GAUGE,
    "The age of the oldest email to be sent.",
    combine=Combine.MOST_RECENT,
)
WEBHOOKS_WAITING = Metric(
    "duograph_webhooks_waiting",
    Kind.GAUGE,
    "Deliveries of webhooks that are due, counted up to 10,000; those to receivers that fail are not.",
    combine=Combine.MOST_RECENT,
)
OLDEST_WEBHOOK = Metric(
    "duograph_oldest_webhook_seconds",
    Kind.GAUGE,
    "For how long the oldest delivery of a webhook that is due has been due.",
    combine=Combine.MOST_RECENT,
)
OPEN_UPLOADS = Metric(
    "duograph_open_uploads",
    Kind.GAUGE,
    "Uploads in progress, counted up to 10,000.",
    combine=Combine.MOST_RECENT,
)
IDEMPOTENCY_KEYS = Metric(
    "duograph_idempotency_keys",
    Kind.GAUGE,
    "Idempotency keys that are kept, counted up to 10,000.",
    combine=Combine.MOST_RECENT,
)

OF_DATABASE = (
    *(DATABASE_UP, DATABASE_SECONDS, DELTAS_WAITING, MAILS_WAITING),
    *(OLDEST_MAIL, WEBHOOKS_WAITING, OLDEST_WEBHOOK, OPEN_UPLOADS, IDEMPOTENCY_KEYS),
)
METRICS = (
    *(REQUESTS, SECONDS, FIELDS, IN_PROGRESS, REFUSED_CHARGES, SECURITY_EVENTS, SLOW_STATEMENTS),
    *(CONNECTIONS, MOST_CONNECTIONS, WAITING, REPLICA, REPLICA_LAG, LOST_NODES, CACHED, RUNS, FAILURES),
    *(FOLD_LAG, MAILS),
    *(WEBHOOKS, LOOP_LAG, PROCESSES, RESIDENT, PROCESSOR),
    *OF_DATABASE,
)
