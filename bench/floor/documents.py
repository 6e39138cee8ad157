"""The floor of documents with links: one statement each, with the JSON of linked rows made by subselects.

Of joins, lateral joins, one JSON for all and subselects, these were the fastest. Limits are literals, because
PostgreSQL would plan for a tenth of the table with a parameter. Cursors are signed, as the gateway's are.
"""

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import asyncpg
import orjson

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
    "/graph/node/{id}": ("file_share_sessions:read", node),
}
