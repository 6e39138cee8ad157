"""Generates pages of docs/ from declarations."""

import inspect
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import groupby

from gateway.cli.generated.twins import twins_of_routes, without_path
from gateway.monitoring.declarations import METRICS as GATEWAY_METRICS
from gateway.settings.settings import describe_settings
from oauth.principals import WIDEST_SCOPES, PrincipalKind
from oauth.scopes import OPENID_SCOPES, Scope
from resolvers.changes.readable import scope_of
from resolvers.operations.declaration import Operation
from rest_compat.api import documented_routes
from rest_compat.routing.paths import PREFIX
from schema.errors import Failure
from storage.changes.kinds import ChangeKind
from storage.metrics.definitions import METRICS, Combination
from storage.metrics.periods import FIRST_DATE, LAST_DATE, MOST_PERIODS
from storage.retention.data_classes import CLASSES, PROTECTIONS, DataClass
from storage.retention.deletion import ROWS_AT_A_TIME
from storage.retention.rules import RULES
from storage.retention.trimming import BOUNDS

OAUTH_CLIENTS_NOTE = (
    "With `oauth_clients:write`, a credential can give an OAuth client more scopes than it has itself, and\n"
    "other redirect addresses. What users have allowed the client before remains valid.\n"
)
WITHOUT_PATH = "\n## Subscriptions without a path\n"
GENERATED = "<!-- Made by `make generated`; edit the declarations, not this page. -->\n"


def operations_page() -> str:
    """docs/operations.md: each REST route with its GraphQL twin, the scope it needs and its statuses."""
    twins = twins_of_routes()
    lines = [
        "# Operations\n",
        GENERATED,
        "Each row is one resolver, published twice: the path and the field take the same input, need the",
        "same scope and fail in the same way. Links between types exist in GraphQL only.\n",
    ]
    tag = None
    for route in documented_routes():
        if route.tag != tag:
            tag = route.tag
            lines += [f"\n## {tag}\n", *_row("REST", "GraphQL", "scope", "status"), "|---|---|---|---|"]
        operation, scope = route.operation, _needed(route.operation)
        missing = "none: see the reason in tests/surfaces/test_contract.py"
        twin = twins.get(route.operation_id) or twins.get(operation.name, missing)
        lines += _row(f"`{route.method} {route.path}`", f"`{twin}`", scope, str(route.served.status))
    lines += [WITHOUT_PATH, *_row("GraphQL", "scope"), "|---|---|"]
    for operation in without_path():
        lines += _row(f"`{twins[operation.name]}`", _needed(operation))
    return "\n".join(lines) + "\n"


def scopes_page() -> str:
    """docs/scopes.md: every scope and the credentials that can have it."""
    lines = ["# Scopes\n", GENERATED, "A `:write` scope also reads.\n", OAUTH_CLIENTS_NOTE]
    lines += [*_row("scope", "held by"), "|---|---|"]
    for scope in Scope:
        holders = [f"{_words(kind)}s" for kind, scopes in WIDEST_SCOPES.items() if scope in scopes]
        note = "; OpenID Connect" if scope in OPENID_SCOPES else ""
        lines += _row(f"`{scope}`", ", ".join(holders) + note)
    return "\n".join(lines) + "\n"


def permissions_page() -> str:
    """docs/permissions.md: each operation with the kinds of credential that may and may not run it."""
    lines = [
        "# Permissions\n",
        GENERATED,
        "The operations that each kind of credential may run, if it has every scope that it can be granted",
        "(see [scopes.md](scopes.md)).\n",
        "- *refused*: 401 `unauthorized` without a credential. Otherwise 403: `not_permitted` if the",
        "  operation does not accept the kind, `insufficient_scope` if no credential of the kind can have",
        "  the scope.",
        "- *allowed*: for what the caller can see. A workspace token and a user see what is their own; a",
        "  customer also sees what its workspace shows to everyone. Anything else is not found (404).",
        "- *owners*: for what belongs to a workspace, the user must be one of its owners. Others get 403",
        "  `not_permitted`; see [members.md](members.md).\n",
        "The tests try each cell on REST and on GraphQL.",
    ]
    twins, tag, kinds = twins_of_routes(), None, [_words(kind) for kind in PrincipalKind]
    for route in documented_routes():
        if route.tag != tag:
            tag = route.tag
            lines += [f"\n## {tag}\n", *_row("REST", "GraphQL", "no credential", *kinds), "|---" * 8 + "|"]
        field = (twins.get(route.operation_id) or twins[route.operation.name]).partition("(")[0]
        cells = [_permission(route.operation, kind) for kind in (None, *PrincipalKind)]
        lines += _row(f"`{route.method} {route.path}`", f"`{field}`", *cells)
    lines += [
        "\n## Subscriptions without a path\n",
        *_row("GraphQL", "no credential", *kinds),
        "|---" * 7 + "|",
    ]
    for operation in without_path():
        cells = [_permission(operation, kind) for kind in (None, *PrincipalKind)]
        lines += _row(f"`{twins[operation.name].partition('(')[0]}`", *cells)
    return "\n".join(lines) + "\n"


def _permission(operation: Operation, kind: PrincipalKind | None) -> str:
    if not operation.is_open_to(kind):
        return "refused"
    is_user = kind is not PrincipalKind.WORKSPACE_TOKEN
    return "owners" if operation.owners_only and is_user else "allowed"


def errors_page() -> str:
    """docs/errors.md: every failure with its code and status."""
    lines = [
        "# Errors\n",
        GENERATED,
        'REST answers `{"error": code, "detail": ...}`; GraphQL has `code`, `detail` and `status` in the',
        "error's `extensions`. With `invalid`, `detail` lists the problems as `{loc, msg, type, input}`:",
        "`loc` begins with `path`, `query` or `body` in REST and with the argument in GraphQL. At most 100",
        "are listed; beside `detail`, `more` counts the others.\n",
        *_row("code", "status", "when"),
        "|---|---|---|",
    ]
    for failure in sorted(Failure.__subclasses__(), key=lambda failure: (failure.status, failure.code)):
        lines += _row(
            f"`{failure.code}`", str(int(failure.status)), (inspect.getdoc(failure) or "").partition("\n")[0]
        )
    return "\n".join(lines) + "\n"


def change_kinds_page() -> str:
    """docs/change-kinds.md: every kind of change, who may read it, and what causes it."""
    lines = [
        "# Kinds of changes\n",
        GENERATED,
        "What [the feed of changes](changes.md) tells. GraphQL writes the kinds as `SHARE_CREATED`. What no",
        "operation causes is done by an operator's command, by a report of leaked tokens, or in time.\n",
        *_row("kind", "when", "read with", "operations"),
        "|---|---|---|---|",
    ]
    routes = {route.operation.name: route.operation for route in documented_routes()}
    for kind in ChangeKind:
        causes = ", ".join(f"`{name}`" for name, each in routes.items() if kind in (each.causes or ()))
        lines += _row(f"`{kind}`", kind.description, f"`{scope_of(kind)}`", causes)
    return "\n".join(lines) + "\n"


def metrics_page() -> str:
    """docs/metrics.md: every metric with its unit, how it combines and its formula."""
    lines = [
        "# Metrics\n",
        GENERATED,
        f"`GET {PREFIX}/metrics/` and the field `metrics` return metrics for each period from `start_date`",
        "to the end of `end_date` in a time zone. A day, week (from Monday), month, quarter or year begins",
        "at the first instant of its local dates; an hour begins whenever the wall clock shows a whole hour",
        "or jumps over one. `totals` has each metric over the whole range as one period. Activity counts at",
        "the moment it happened.\n",
        f"Dates are from {FIRST_DATE} to {LAST_DATE}; an answer has at most {MOST_PERIODS:,} periods.",
        "Money is in minor units of one currency; `other_currencies` lists what that leaves out. Sums are",
        "exact integers up to 2^53-1; larger sums and values with decimals are the nearest double.",
        "`is_complete` is false for a period that is not over. `compare` adds the same metrics over the",
        "previous range, or over the same dates of the previous year, with their own periods and totals.\n",
        *_row("slug", "name", "unit", "combines", "value"),
        "|---|---|---|---|---|",
    ]
    for metric in METRICS:
        words = metric.combines.replace("_", " ")
        lines += _row(f"`{metric.slug}`", metric.display_name, metric.unit, words, metric.description)
    lines.append(f"\n{inspect.getdoc(Combination)}")
    return "\n".join(lines) + "\n"


def settings_page() -> str:
    """docs/settings.md: every setting with its default and meaning, by topic."""
    lines = [
        "# Settings\n",
        GENERATED,
        "Every setting is an environment variable. An empty variable counts as unset. The gateway does not",
        "start with an unknown variable that begins with `DUOGRAPH_`, so that a misspelled name is noticed.",
        "`duograph doctor` checks that the settings work.\n",
        "A value can be in a file instead, as secrets of containers are:",
        "`DUOGRAPH_SECRET_KEY_FILE=/run/secrets/key` sets `DUOGRAPH_SECRET_KEY` to the content of that file.",
        "Line breaks at its end do not count.",
    ]
    for topic, settings in describe_settings():
        lines += [f"\n## {topic}\n", *_row("variable", "default", "meaning"), "|---|---|---|"]
        for setting in settings:
            default = f"`{setting.default}`" if setting.default else ""
            lines += _row(f"`{setting.variable}`", default, setting.text)
    return "\n".join(lines) + "\n"


def retention_page() -> str:
    """docs/retention.md: how long rows are kept after their end."""
    lines = [
        "# Retention\n",
        GENERATED,
        "Each gateway deletes what has ended once this time is over: it looks every hour, for answers to",
        f"refreshes every minute, and deletes {ROWS_AT_A_TIME:,} rows at a time until nothing is left. Any",
        "number of processes share the work. Rows that are not listed are kept until a user or an operator",
        "deletes what they belong to.\n",
        *_row("rows", "table", "kept for", "after", "why"),
        "|---|---|---|---|---|",
    ]
    for (table, rows), rules in groupby(RULES, lambda rule: (rule.table.name, rule.rows)):
        first, *others = rules
        ends = " or ".join(f"`{rule.ends_at}`" for rule in (first, *others))
        span = _span(first.kept_for) + (f" (`{first.setting}`)" if first.setting else "")
        lines += _row(rows, f"`{table}`", span, ends, first.why)
    lines += [
        "\nOf these rows each workspace keeps only the newest, which a gateway sees to every hour:\n",
        *_row("rows", "table", "at most", "why"),
        "|---|---|---|---|",
    ]
    for bound in BOUNDS:
        lines += _row(bound.rows, f"`{bound.table.name}`", f"{bound.most:,}", bound.why)
    return "\n".join(lines) + "\n"


def data_classes_page() -> str:
    """docs/data-classes.md: what each column may hold, and how each class is protected."""
    lines = [
        "# Classes of data\n",
        GENERATED,
        "Each column with texts, JSON or bytes has a class. Others have ids, moments, numbers and switches,",
        "which are internal; a workspace's own are read with its rows, by the workspace only. Emails have",
        "links and codes in them, and are deleted once they are sent.\n",
        *_row("class", "how it is protected"),
        "|---|---|",
        *(line for each in DataClass for line in _row(each.value, PROTECTIONS[each])),
    ]
    for data_class, columns in groupby(CLASSES, lambda each: each[2]):
        lines += [f"\n## {data_class.value.capitalize()}\n", *_row("table", "columns"), "|---|---|"]
        for table, of_table in groupby(columns, lambda each: each[0]):
            lines += _row(f"`{table}`", ", ".join(f"`{column}`" for _, column, _ in of_table))
    return "\n".join(lines) + "\n"


def _span(time: timedelta) -> str:
    for name, unit in (("day", timedelta(days=1)), ("hour", timedelta(hours=1))):
        if number := time // unit:
            return f"{number} {name}{'' if number == 1 else 's'}"
    return "no time"


def monitoring_page() -> str:
    """docs/monitoring.md: every metric of the gateway itself."""
    lines = [
        "# Monitoring\n",
        GENERATED,
        "## Metrics\n",
        "With `DUOGRAPH_METRICS_PORT`, `duograph serve` answers `/metrics` on that port for Prometheus.",
        "Durations are in seconds, sizes in bytes. Several processes give one answer: *sum* adds their",
        "numbers up, the others choose one.\n",
        *_row("metric", "kind", "labels", "processes", "meaning"),
        "|---|---|---|---|---|",
    ]
    for metric in GATEWAY_METRICS:
        labels = ", ".join(f"`{label}`" for label in metric.labels)
        lines += _row(f"`{metric.exported}`", metric.kind, labels, metric.combine, metric.description)
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    """The text of each page by its file name in docs/."""
    return {
        "operations.md": operations_page(),
        "permissions.md": permissions_page(),
        "scopes.md": scopes_page(),
        "errors.md": errors_page(),
        "change-kinds.md": change_kinds_page(),
        "metrics.md": metrics_page(),
        "settings.md": settings_page(),
        "retention.md": retention_page(),
        "data-classes.md": data_classes_page(),
        "monitoring.md": monitoring_page(),
    }


def _needed(operation: Operation) -> str:
    needed = " or ".join(f"`{scope}`" for scope in operation.sufficient_scopes)
    return needed or ("any credential" if operation.kinds else "none")


def _words(kind: PrincipalKind) -> str:
    words = kind.replace("_", " ")
    return words.replace("oauth", "OAuth")


def _row(*cells: str) -> Iterator[str]:
    yield f"| {' | '.join(_escaped(cells))} |"


def _escaped(cells: Iterable[str]) -> Iterator[str]:
    return (cell.replace("|", "\\|") for cell in cells)
