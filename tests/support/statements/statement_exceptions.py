"""The statements that may reach tenant tables of all workspaces, and why."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from tests.support.statements.tenant_statements import APART, TENANTS, Complaint


@dataclass(frozen=True)
class Reach:
    """The function that runs the statement, by its module and its name there, and the tables it may reach.

    Without `function`, all of the modules that match `module`; with `lack`, only where it lacks just that.
    """

    module: str
    reason: str
    tables: frozenset[str]
    function: str | None = None
    lack: str | None = None

    def is_of(self, module: str, function: str) -> bool:
        return fnmatchcase(module, self.module) and self.function in (None, function)

    def covers(self, module: str, function: str, complaint: Complaint) -> bool:
        return (
            self.is_of(module, function)
            and self.lack in (None, complaint.lack)
            and complaint.table in self.tables
        )


def _in(module: str, function: str, reason: str, *tables: str) -> Reach:
    return Reach(module, reason, frozenset(tables), function)


_HOURLY = "Once an hour, a process looks for what has become old in any workspace."

REACHES = (
    Reach(
        "resolvers/operations/rows/reading.py",
        "One database reads what belongs to rows of several workspaces with them; a cluster in each.",
        TENANTS,
        lack=APART,
    ),
    Reach(
        "resolvers/operations/rows/together.py",
        "The same, of several lists in one statement.",
        TENANTS,
        lack=APART,
    ),
    Reach(
        "oauth/assumed.py",
        "The same, read together with the caller's credential, which never happens on a cluster.",
        TENANTS,
        "Assumed.fetch",
        APART,
    ),
    Reach(
        "storage/migrations/versions/*",
        "A revision changes the rows of every workspace, while nothing is served or beside it.",
        TENANTS,
    ),
    Reach("storage/migrations/online.py", "What such a revision calls.", TENANTS),
    _in(
        "storage/upkeep/folding.py",
        "Fold._swept",
        "At its start and twice a minute, a process looks for what others left to fold.",
        *("changes", "event_deltas", "list_total_deltas", "metric_deltas", "person_merge_deltas"),
    ),
    _in(
        "storage/queues/backlog.py",
        "read_backlog",
        "With metrics on, at most every 10 seconds: how much waits, counted up to a bound.",
        *("files", "metric_deltas", "webhook_deliveries", "webhook_endpoints"),
    ),
    _in(
        "storage/persons/claims.py",
        "continue_claims",
        "Every five seconds, a process looks for an external id that left rows to take over.",
        "external_persons",
    ),
    _in(
        "storage/queues/webhooks.py",
        "endpoints_behind",
        "Once a second, a process looks for changes to tell to any endpoint.",
        *("webhook_endpoints", "changes"),
    ),
    _in(
        "storage/queues/webhooks.py",
        "workspaces_told",
        "Every five seconds, a process notes whose changes it has to look at as soon as they are committed.",
        "webhook_endpoints",
    ),
    _in(
        "storage/queues/webhooks.py",
        "endpoints_with_work",
        "The same, for deliveries that are due.",
        *("webhook_endpoints", "webhook_deliveries"),
    ),
    _in(
        "storage/upkeep/resealing.py",
        "_rows_after",
        "`duograph keys reseal` seals what all workspaces keep.",
        "webhook_secrets",
    ),
    _in("resolvers/files/clean_up.py", "drop_abandoned_uploads", _HOURLY, "files"),
    _in("resolvers/files/clean_up.py", "drop_lost_uploads", _HOURLY, "files"),
    _in("resolvers/files/clean_up.py", "remove_discarded_content", _HOURLY, "discarded_objects"),
    Reach("storage/retention/*", _HOURLY, TENANTS),
    Reach("storage/upkeep/table_sizes.py", "`duograph storage` lists what all workspaces have.", TENANTS),
    Reach("storage/copies/*", "`duograph move`, `backup` and `restore` are about all workspaces.", TENANTS),
)


def may_ask_all_nodes(module: str, function: str) -> bool:
    """Whether it does not matter to the function of which workspaces it reads."""
    return any(reach.lack is None and reach.is_of(module, function) for reach in REACHES)
