"""The floor of documents with links: one statement each, with the JSON of linked rows made by subselects.

Of joins, lateral joins, one JSON for all and subselects, these were the fastest. Limits are literals, because
PostgreSQL would plan for a tenth of the table with a parameter. Cursors are signed, as the gateway's are.
"""

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from operator import add
from typing import Any
from uuid import UUID

import asyncpg
import orjson

from bench.kit.documents import DAYS, METRICS

_SESSION = (
    's.id::text, upper(s.status) status, s.created_at "createdAt", '
    's.price_amount "priceAmount", upper(s.price_currency) "priceCurrency"'
)
_SHARE = """(SELECT json_build_object('id', h.id, 'name', h.name) FROM shares h
    WHERE h.workspace_id = s.workspace_id AND h.id = s.share_id) share"""
_CUSTOMER = """(SELECT json_build_object('id', c.id, 'email', c.email, 'name', c.name) FROM customers c
    WHERE c.workspace_id = s.workspace_id AND c.id = s.customer_id AND c.deleted_at IS NULL) customer"""
_PAYMENTS = """(SELECT json_build_object('data', coalesce(json_agg(json_build_object(
        'id', p.id, 'at', p.at, 'amount', p.amount, 'currency', upper(p.currency))), '[]'))
    FROM (SELECT p.id, p.at, p.amount, p.currency FROM file_share_payments p
        WHERE p.workspace_id = s.workspace_id AND p.file_share_session_id = s.id
        ORDER BY p.at DESC, p.id DESC LIMIT 3) p) payments"""
_PRICES = """(SELECT coalesce(json_agg(json_build_object('id', p.id, 'priceAmount', p.price_amount,
        'priceCurrency', upper(p.price_currency)) ORDER BY p.created_at, p.id), '[]')
    FROM share_prices p
    WHERE p.workspace_id = h.workspace_id AND p.share_id = h.id AND NOT p.is_archived)"""
_NEWEST = (
    "FROM file_share_sessions s WHERE s.workspace_id = $1 ORDER BY s.created_at DESC, s.id DESC LIMIT 10"
)
LINK = f"SELECT {_SESSION}, {_SHARE} {_NEWEST}"
LINKS = f"SELECT {_SESSION}, {_SHARE}, {_CUSTOMER}, {_PAYMENTS} {_NEWEST}"
LEVELS = f"""
SELECT c.id::text, c.email, c.name, (SELECT json_build_object('data', coalesce(json_agg(json_build_object(
        'id', s.id, 'status', upper(s.status), 'createdAt', s.created_at,
        'share', (SELECT json_build_object('id', h.id, 'name', h.name, 'prices', {_PRICES}) FROM shares h
            WHERE h.workspace_id = s.workspace_id AND h.id = s.share_id))), '[]'))
    FROM (SELECT s.id, s.status, s.created_at, s.share_id, s.workspace_id FROM file_share_sessions s
        WHERE s.workspace_id = c.workspace_id AND s.customer_id = c.id
        ORDER BY s.created_at DESC, s.id DESC LIMIT 3) s) "fileShareSessions"
FROM customers c WHERE c.workspace_id = $1 AND c.deleted_at IS NULL
ORDER BY c.created_at DESC, c.id DESC LIMIT 5
"""
CUSTOMERS = """
SELECT c.id::text, c.email, c.name, c.created_at FROM customers c
WHERE c.workspace_id = $1 AND c.deleted_at IS NULL ORDER BY c.created_at DESC, c.id DESC LIMIT 11
"""
NODE = f"""
SELECT s.id::text, upper(s.status) status, s.created_at "createdAt", {_SHARE}
FROM file_share_sessions s WHERE s.workspace_id = $1 AND s.id = $2
"""
_TOTAL = """(SELECT coalesce(sum(kept.total), 0)::bigint FROM (
        SELECT total FROM list_totals WHERE workspace_id = $1 AND list = '{0}' AND value = ''
        UNION ALL
        SELECT total FROM list_total_deltas WHERE workspace_id = $1 AND list = '{0}' AND value = '') kept)"""
DASHBOARD = f"""
SELECT
    (SELECT coalesce(json_agg(to_json(n.*)), '[]') FROM (
        SELECT {_SESSION}, {_SHARE}, {_CUSTOMER} FROM file_share_sessions s WHERE s.workspace_id = $1
        ORDER BY s.created_at DESC, s.id DESC LIMIT 5) n) newest,
    (SELECT coalesce(json_agg(json_build_object(
            'id', c.id, 'email', c.email, 'name', c.name, 'createdAt', c.created_at)), '[]')
        FROM (SELECT id, email, name, created_at FROM customers c
            WHERE c.workspace_id = $1 AND c.deleted_at IS NULL
            ORDER BY c.created_at DESC, c.id DESC LIMIT 5) c) customers,
    {_TOTAL.format("customers")} total_customers,
    (SELECT coalesce(json_agg(json_build_object(
            'id', h.id, 'name', h.name, 'visibility', upper(h.visibility), 'prices', {_PRICES})), '[]')
        FROM (SELECT id, workspace_id, name, visibility FROM shares h WHERE h.workspace_id = $1
            ORDER BY h.created_at DESC, h.id DESC LIMIT 5) h) shares,
    {_TOTAL.format("shares")} total_shares,
    (SELECT coalesce(json_agg(json_build_object('id', e.id, 'name', e.name, 'timestamp', e.timestamp,
            'label', CASE e.name WHEN 'customer.created' THEN 'Customer Created' ELSE e.name END)), '[]')
        FROM (SELECT id, name, timestamp FROM events e WHERE e.workspace_id = $1
            ORDER BY e.timestamp DESC, e.id DESC LIMIT 5) e) events,
    (SELECT default_presentment_currency FROM workspaces WHERE id = $1) currency
"""
# The cells of whole days of all shares, and the facts that are not in them yet.
CELLS = """
WITH sums AS (
    SELECT at, free_session_count + priced_session_count sessions, download_count downloads, 0::bigint revenue
    FROM metric_activity_cells
    WHERE workspace_id = $1 AND share_id = $2 AND grain = 86400 AND at >= $3 AND at < $4
    UNION ALL
    SELECT at, 0, 0, payment_amount + refund_amount FROM metric_money_cells
    WHERE workspace_id = $1 AND share_id = $2 AND currency = $5 AND grain = 86400 AND at >= $3 AND at < $4
    UNION ALL
    SELECT moment - mod(moment, 86400000000),
        CASE WHEN kind IN ('free_session', 'priced_session') THEN count ELSE 0 END,
        CASE kind WHEN 'download' THEN count ELSE 0 END,
        CASE WHEN currency = $5 AND kind IN ('payment', 'refund') THEN amount ELSE 0 END
    FROM metric_deltas WHERE workspace_id = $1 AND moment >= $3 AND moment < $4)
SELECT at, sum(sessions)::bigint, sum(downloads)::bigint, sum(revenue)::bigint FROM sums GROUP BY at
"""
_NO_SHARE, _DAY = UUID(int=0), 86_400_000_000
_IN_JSON = frozenset({"share", "customer", "payments", "fileShareSessions"})
_KEY = hmac.new(b"a secret of the floor", digestmod="sha256")


def _item(row: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a row, with what PostgreSQL has made as JSON left as it is."""
    return {
        name: orjson.Fragment(value) if name in _IN_JSON and value is not None else value
        for name, value in row.items()
    }


async def link(connection: asyncpg.Connection, workspace_id: UUID, _: str) -> Any:
    rows = await connection.fetch(LINK, workspace_id)
    return {"fileShareSessions": {"data": list(map(_item, rows))}}


async def links(connection: asyncpg.Connection, workspace_id: UUID, _: str) -> Any:
    rows = await connection.fetch(LINKS, workspace_id)
    return {"fileShareSessions": {"data": list(map(_item, rows))}}


async def levels(connection: asyncpg.Connection, workspace_id: UUID, _: str) -> Any:
    return {"customers": {"data": list(map(_item, await connection.fetch(LEVELS, workspace_id)))}}


async def node(connection: asyncpg.Connection, workspace_id: UUID, id: str) -> Any:
    rows = await connection.fetch(NODE, workspace_id, UUID(id))
    return {"node": _item(rows[0]) if rows else None}


async def connection_of_customers(connection: asyncpg.Connection, workspace_id: UUID, _: str) -> Any:
    rows = await connection.fetch(CUSTOMERS, workspace_id)
    edges = [
        {"cursor": _cursor(workspace_id, row), "node": {"id": row[0], "email": row[1], "name": row[2]}}
        for row in rows[:10]
    ]
    info = {
        "hasNextPage": len(rows) > 10,
        "hasPreviousPage": False,
        "startCursor": edges[0]["cursor"] if edges else None,
        "endCursor": edges[-1]["cursor"] if edges else None,
    }
    return {"customers": {"edges": edges, "pageInfo": info}}


async def dashboard(connection: asyncpg.Connection, workspace_id: UUID, last: str) -> Any:
    (row,) = await connection.fetch(DASHBOARD, workspace_id)
    first = datetime.fromisoformat(last).replace(tzinfo=UTC) - timedelta(days=DAYS - 1)
    start = int(first.timestamp()) * 1_000_000
    place = _NO_SHARE, start, start + DAYS * _DAY, row["currency"]
    found = {cells[0]: cells[1:] for cells in await connection.fetch(CELLS, workspace_id, *place)}
    periods, totals = [], [0] * len(METRICS)
    for day in range(DAYS):
        values = found.get(start + day * _DAY, (0, 0, 0))
        totals = list(map(add, totals, values))
        moment = first + timedelta(days=day)
        stamp = moment.isoformat(timespec="microseconds")
        periods.append({"timestamp": stamp, **dict(zip(METRICS, values, strict=True))})
    sums = dict(zip(METRICS, totals, strict=True))
    pages: dict[str, dict[str, Any]] = {
        alias: {"data": orjson.Fragment(row[alias])} for alias in ("newest", "customers", "shares", "events")
    }
    for name in ("customers", "shares"):
        pages[name]["meta"] = {"total": row[f"total_{name}"]}
    return {"metrics": {"currency": row["currency"].upper(), "periods": periods, "totals": sums}, **pages}


def _cursor(workspace_id: UUID, row: Any) -> str:
    keys = urlsafe_b64encode(orjson.dumps([row[3], row[0]])).rstrip(b"=")
    signer = _KEY.copy()
    signer.update(keys + b"customers" + workspace_id.bytes + b'{"limit":10}')
    return (keys + b"." + urlsafe_b64encode(signer.digest()).rstrip(b"=")).decode()


# By the path, with the scope that the floor looks for.
ANSWERS = {
    "/graph/link": ("file_share_sessions:read", link),
    "/graph/links": ("file_share_sessions:read", links),
    "/graph/levels": ("customers:read", levels),
    "/graph/connection": ("customers:read", connection_of_customers),
    "/graph/dashboard/{id}": ("metrics:read", dashboard),
    "/graph/node/{id}": ("file_share_sessions:read", node),
}
