"""The raw tables as a service would have them, with the best indexes for the raw statements.

Keys have the types of those in the log; moments are microseconds since 1970. A session records whether it was
paid and when it was first downloaded, so that no raw statement needs a join.
"""

from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID


class FactsOfRows(NamedTuple):
    """Facts of one kind, made from the rows of a table that meet a condition, with these columns."""

    kind: str
    table: str
    condition: str
    columns: Mapping[str, str]


TABLES = {
    "sessions": "share_id {id}, person integer, at bigint, price bigint, currency text, size bigint,"
    " is_paid integer, first_download_at bigint, ended_at bigint, is_completed integer",
    "downloads": "share_id {id}, person integer, at bigint",
    # Refunds have negative amounts and fees.
    "payments": "share_id {id}, person integer, at bigint, amount bigint, fee bigint, currency text",
    # `parts` are 10^-12 of a minor unit; an event without a cost has no currency.
    "events": "share_id {id}, person integer, at bigint, amount bigint, parts bigint, currency text",
}
# The moments by which a table is read, and the columns that are read.
READ_BY = (
    ("sessions", "at", "price, currency, size, is_paid"),
    ("sessions", "first_download_at", ""),
    ("sessions", "ended_at", "is_completed, first_download_at"),
    ("downloads", "at", ""),
    ("payments", "at", "amount, fee, currency"),
    ("events", "at", "person, amount, parts, currency"),
)
# The facts that the rows correspond to.
FACTS = (
    FactsOfRows("free_session", "sessions", "price = 0", {"bytes": "size"}),
    FactsOfRows(
        "priced_session",
        "sessions",
        "price > 0",
        {"bytes": "size", "amount": "price", "currency": "currency"},
    ),
    FactsOfRows("conversion", "sessions", "is_paid = 1", {}),
    FactsOfRows("download", "downloads", "at > 0", {}),
    FactsOfRows("activation", "sessions", "first_download_at > 0", {"moment": "first_download_at"}),
    FactsOfRows("completion", "sessions", "is_completed = 1", {"moment": "ended_at"}),
    FactsOfRows("expiry", "sessions", "is_completed = 0", {"moment": "ended_at"}),
    FactsOfRows("deactivation", "sessions", "ended_at > 0 AND first_download_at > 0", {"moment": "ended_at"}),
    FactsOfRows(
        "payment", "payments", "amount > 0", {"amount": "amount", "fee": "fee", "currency": "currency"}
    ),
    FactsOfRows(
        "refund", "payments", "amount < 0", {"amount": "amount", "fee": "fee", "currency": "currency"}
    ),
    FactsOfRows("event", "events", "at > 0", {}),
    FactsOfRows(
        "cost", "events", "amount >= 0", {"amount": "amount", "parts": "parts", "currency": "currency"}
    ),
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
    for table, moment, columns in READ_BY:
        name = f"raw_{table}_{moment}"
        keys = f"workspace_id, {moment}"
        including = f" INCLUDE ({columns})" if columns else ""
        if dialect == "sqlite":
            keys, including = ", ".join(filter(None, (keys, columns))), ""
        statements.append(f"CREATE INDEX {name} ON raw_{table} ({keys}){including}")
    return statements


def insert_facts(dialect: str) -> list[str]:
    """The statements that write the log of the same activity."""
    statements = []
    for number, facts in enumerate(FACTS, 1):
        values = DEFAULTS | dict(facts.columns)
        id = NEW_ID[dialect].format(number=number)
        statements.append(
            f"""
            INSERT INTO metric_facts (workspace_id, id, kind, share_id, person, count, {", ".join(values)})
            SELECT workspace_id, {id}, '{facts.kind}', share_id, person, 1, {", ".join(values.values())}
            FROM raw_{facts.table} WHERE {facts.condition}
            """
        )
    return statements
