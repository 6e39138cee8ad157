"""The raw tables as a service would have them, with the best indexes for the raw statements.

Keys have the types of those in the log; moments are microseconds since 1970. A session records whether it was
paid and when it was first downloaded, so that no raw statement needs a join.
"""

from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

TABLES = {
    "sessions": "share_id {id}, person integer, at bigint, price bigint, currency text, size bigint,"
    " is_paid integer, first_download_at bigint, ended_at bigint, is_completed integer",
    "downloads": "share_id {id}, person integer, at bigint",
    # Refunds have negative amounts and fees.
    "payments": "share_id {id}, person integer, at bigint, amount bigint, fee bigint, currency text",
    # `parts` are 10^-12 of a minor unit; an event without a cost has no currency.
    "events": "share_id {id}, person integer, at bigint, amount bigint, parts bigint, currency text",
}


class Reading(NamedTuple):
    """A table read by one of its moments: the columns that are read, and sums of them by name."""

    table: str
    moment: str
    columns: str
    sums: Mapping[str, str]


_OWN = "FILTER (WHERE currency = :currency)"
READINGS = (
    Reading(
        "sessions",
        "at",
        "price, currency, size, is_paid",
        {
            "sessions": "count(*)",
            "priced": "count(*) FILTER (WHERE price > 0)",
            "priced_in_currency": f"count(*) {_OWN}",
            "prices": f"sum(price) {_OWN}",
            "size": "sum(size)",
            "paid": "sum(is_paid)",
        },
    ),
    Reading("sessions", "first_download_at", "", {"activated": "count(*)"}),
    Reading(
        "sessions",
        "ended_at",
        "is_completed, first_download_at",
        {"ended": "count(*)", "completed": "sum(is_completed)", "deactivated": "count(first_download_at)"},
    ),
    Reading("downloads", "at", "", {"downloads": "count(*)"}),
    Reading(
        "payments",
        "at",
        "amount, fee, currency",
        {"revenue": f"sum(amount) {_OWN}", "fees": f"sum(fee) {_OWN}"},
    ),
    Reading(
        "events",
        "at",
        "person, amount, parts, currency",
        {"amount": f"sum(amount) {_OWN}", "parts": f"sum(parts) {_OWN}", "persons": "count(DISTINCT person)"},
    ),
)

# The facts that the rows correspond to: their kind, the table, a condition, and columns from the table's.
_ENDED, _PAID = {"moment": "ended_at"}, {"amount": "amount", "fee": "fee", "currency": "currency"}
_PRICED = {"bytes": "size", "amount": "price", "currency": "currency"}
_COST = {"amount": "amount", "parts": "parts", "currency": "currency"}
FACTS: tuple[tuple[str, str, str, Mapping[str, str]], ...] = (
    ("free_session", "sessions", "price = 0", {"bytes": "size"}),
    ("priced_session", "sessions", "price > 0", _PRICED),
    ("conversion", "sessions", "is_paid = 1", {}),
    ("download", "downloads", "at > 0", {}),
    ("activation", "sessions", "first_download_at > 0", {"moment": "first_download_at"}),
    ("completion", "sessions", "is_completed = 1", _ENDED),
    ("expiry", "sessions", "is_completed = 0", _ENDED),
    ("deactivation", "sessions", "ended_at > 0 AND first_download_at > 0", _ENDED),
    ("payment", "payments", "amount > 0", _PAID),
    ("refund", "payments", "amount < 0", _PAID),
    ("event", "events", "at > 0", {}),
    ("cost", "events", "amount >= 0", _COST),
)
DEFAULTS = {"moment": "at", "currency": "NULL", "bytes": "0", "amount": "0", "fee": "0", "parts": "0"}
# Ids ascend on SQLite: its primary key cannot be created later, and its index is then only appended to.
NEW_ID = {"postgresql": "gen_random_uuid()", "sqlite": "lower(printf('%08x%024x', {number}, rowid))"}


def create_tables(dialect: str, workspace_id: UUID) -> list[str]:
    """The statements that create the tables, for rows of one workspace."""
    id = "uuid" if dialect == "postgresql" else "char(32)"
    tenant = f"workspace_id {id} NOT NULL DEFAULT '{workspace_id.hex}'"
    return [
        f"CREATE TABLE raw_{name} ({tenant}, {columns.format(id=id)})" for name, columns in TABLES.items()
    ]


def create_indexes(dialect: str) -> list[str]:
    """The statements that create covering indexes, from which a period is read in order."""
    statements = []
    for table, moment, columns, _ in READINGS:
        keys = f"workspace_id, {moment}"
        including = f" INCLUDE ({columns})" if columns else ""
        if dialect == "sqlite":
            keys, including = ", ".join(filter(None, (keys, columns))), ""
        statements.append(f"CREATE INDEX raw_{table}_{moment} ON raw_{table} ({keys}){including}")
    return statements


def insert_facts(dialect: str) -> list[str]:
    """The statements that write the log of the same activity."""
    statements = []
    for number, (kind, table, condition, columns) in enumerate(FACTS, 1):
        values = DEFAULTS | dict(columns)
        id = NEW_ID[dialect].format(number=number)
        statements.append(
            f"""
            INSERT INTO metric_facts (workspace_id, id, kind, share_id, person, count, {", ".join(values)})
            SELECT workspace_id, {id}, '{kind}', share_id, person, 1, {", ".join(values.values())}
            FROM raw_{table} WHERE {condition}
            """
        )
    return statements
