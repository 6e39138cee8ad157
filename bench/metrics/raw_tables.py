"""The raw rows as a service would keep them, with the indexes that the raw statements like best.

Keys have the types of the log's; moments are microseconds since 1970. A session knows whether it was paid
and when it was first downloaded, so that no raw statement needs a join.
"""

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
# By which moment a table is read, and what is read then.
READ_BY = (
    ("sessions", "at", "price, currency, size, is_paid"),
    ("sessions", "first_download_at", ""),
    ("sessions", "ended_at", "is_completed, first_download_at"),
    ("downloads", "at", ""),
    ("payments", "at", "amount, fee, currency"),
    ("events", "at", "person, amount, parts, currency"),
)
# The facts of the log that the rows stand for: kind, table, condition, and what its columns hold.
FACTS: tuple[tuple[str, str, str, dict[str, str]], ...] = (
    ("free_session", "sessions", "price = 0", {"bytes": "size"}),
    ("priced_session", "sessions", "price > 0", {"bytes": "size", "amount": "price", "currency": "currency"}),
    ("conversion", "sessions", "is_paid = 1", {}),
    ("download", "downloads", "at > 0", {}),
    ("activation", "sessions", "first_download_at > 0", {"moment": "first_download_at"}),
    ("completion", "sessions", "is_completed = 1", {"moment": "ended_at"}),
    ("expiry", "sessions", "is_completed = 0", {"moment": "ended_at"}),
    ("deactivation", "sessions", "ended_at > 0 AND first_download_at > 0", {"moment": "ended_at"}),
    ("payment", "payments", "amount > 0", {"amount": "amount", "fee": "fee", "currency": "currency"}),
    ("refund", "payments", "amount < 0", {"amount": "amount", "fee": "fee", "currency": "currency"}),
    ("event", "events", "at > 0", {}),
    ("cost", "events", "amount >= 0", {"amount": "amount", "parts": "parts", "currency": "currency"}),
)
OTHERWISE = {"moment": "at", "currency": "NULL", "bytes": "0", "amount": "0", "fee": "0", "parts": "0"}
# SQLite's ids ascend, so that the index of the primary key, which cannot be made later, is appended to.
NEW_ID = {"postgresql": "gen_random_uuid()", "sqlite": "lower(printf('%08x%024x', {number}, rowid))"}


def create_tables(dialect: str, workspace_id: UUID) -> list[str]:
    """Tables of one workspace's rows."""
    id = "uuid" if dialect == "postgresql" else "char(32)"
    tenant = f"workspace_id {id} NOT NULL DEFAULT '{workspace_id.hex}'"
    return [
        f"CREATE TABLE raw_{name} ({tenant}, {columns.format(id=id)})" for name, columns in TABLES.items()
    ]


def create_indexes(dialect: str) -> list[str]:
    """Covering indexes: a period is read from them alone, in order."""
    statements = []
    for table, moment, read in READ_BY:
        name = f"raw_{table}_{moment}"
        keys = f"workspace_id, {moment}"
        including = f" INCLUDE ({read})" if read else ""
        if dialect == "sqlite":
            keys, including = ", ".join(filter(None, (keys, read))), ""
        statements.append(f"CREATE INDEX {name} ON raw_{table} ({keys}){including}")
    return statements


def insert_facts(dialect: str) -> list[str]:
    """The log of the same activity."""
    statements = []
    for number, (kind, table, condition, columns) in enumerate(FACTS, 1):
        values = OTHERWISE | columns
        id = NEW_ID[dialect].format(number=number)
        statements.append(
            f"""
            INSERT INTO metric_facts (workspace_id, id, kind, share_id, person, count, {", ".join(values)})
            SELECT workspace_id, {id}, '{kind}', share_id, person, 1, {", ".join(values.values())}
            FROM raw_{table} WHERE {condition}
            """
        )
    return statements
