"""The floor: what a fast hand-written service over the same tables costs for the same answers.

Starlette over asyncpg, and nothing else in the way of a request: PostgreSQL makes the JSON of nested lists,
orjson the rest. It checks a token's hash, expiry, revocation and scopes, answers the same fields and writes
the same rows as the gateway, which `tests/project/test_floor.py` compares. Nothing else is asked of it: no
other arguments, validation, limits, logs, ETags or signed cursors.

It is what a careful author writes: asyncpg's own pool, of which each request takes a connection, and for a
list a statement for its rows and one for its total.

    DATABASE=postgresql://... uvicorn bench.floor.app:app --loop uvloop --http httptools --no-access-log
"""

import os
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, TypeAlias
from uuid import UUID, uuid4

import asyncpg
import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bench.floor import documents, statements

ADDRESS = dict.fromkeys(("line1", "line2", "postal_code", "city", "state", "country"))
ADDRESS_TEXT = orjson.dumps(ADDRESS).decode()
CONNECTIONS = 20
SERVER_SETTINGS = {"jit": "off", "max_parallel_workers_per_gather": "0", "timezone": "UTC"}
# Kinds of changes with the ids of their resources.
Changes: TypeAlias = Sequence[tuple[str, UUID | None]]
LABELS = {"customer.created": "Customer Created"}

Values = dict[str, Any]


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    async with asyncpg.create_pool(
        os.environ["DATABASE"],
        min_size=CONNECTIONS,
        max_size=CONNECTIONS,
        reset=keep_as_it_is,
        server_settings=SERVER_SETTINGS,
    ) as app.state.pool:
        yield


async def keep_as_it_is(_: asyncpg.Connection) -> None:
    """Requests leave nothing in a connection to be reset."""


Connection: TypeAlias = asyncpg.Connection
Answer = Callable[[Request, Connection, UUID], Coroutine[Any, Any, Response]]


def of_workspace(scope: str, answer: Answer) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    """The endpoint that answers if the request's token is live and has the scope."""

    async def endpoint(request: Request) -> Response:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        async with request.app.state.pool.acquire() as connection:
            credentials = await connection.fetch(statements.TOKEN, sha256(token.encode()).hexdigest(), scope)
            if not credentials:
                return write({"error": "invalid_token"}, 401)
            workspace_id, request.state.token_id = credentials[0]
            return await answer(request, connection, workspace_id)

    return endpoint


def write(body: Values, status: int = 200) -> Response:
    content = orjson.dumps(body, default=str, option=orjson.OPT_UTC_Z)
    return Response(content, status, media_type="application/json")


def page_of(items: list[Values], total: int, limit: int, sorted_by: str) -> Response:
    """The first page of a list, with a cursor if there are more."""
    pages = -(-total // limit)
    cursor = None
    if total > limit:
        last = items[-1]
        cursor = urlsafe_b64encode(orjson.dumps([last[sorted_by], last["id"]])).decode()
    meta = {"total": total, "page": 1, "per_page": limit, "pages": pages, "next_cursor": cursor}
    return write({"data": items, "meta": meta, "pagination": {"total_count": total, "max_page": pages}})


def limit_of(request: Request) -> int:
    return int(request.query_params.get("limit", 10))


async def list_shares(request: Request, connection: Connection, workspace_id: UUID) -> Response:
    limit = limit_of(request)
    rows = await connection.fetch(f"{statements.SHARES} LIMIT {limit}", workspace_id)
    total = await connection.fetchval(statements.TOTAL_OF_SHARES, workspace_id)
    items = []
    for row in rows:
        item = dict(row)
        for name in ("metadata", "prices", "medias", "downloads", "attached_custom_fields"):
            item[name] = orjson.Fragment(item[name])
        items.append(item)
    return page_of(items, total, limit, "created_at")


async def get_customer(request: Request, connection: Connection, workspace_id: UUID) -> Response:
    rows = await connection.fetch(statements.CUSTOMER, workspace_id, UUID(request.path_params["id"]))
    if not rows:
        return write({"error": "not_found"}, 404)
    customer = customer_of(dict(rows[0]))
    customer["members"] = orjson.Fragment(customer["members"])
    return write(customer)


def customer_of(values: Values) -> Values:
    """Complete the values of a row: an address that was never given has no fields in the table."""
    address = values["billing_address"]
    values["billing_address"] = orjson.Fragment(ADDRESS_TEXT if address == "{}" else address)
    values["metadata"] = orjson.Fragment(values["metadata"])
    values["avatar_url"] = avatar_of(values["email"])
    return values


def avatar_of(email: str) -> str:
    return f"https://www.gravatar.com/avatar/{sha256(email.strip().lower().encode()).hexdigest()}"


async def list_events(request: Request, connection: Connection, workspace_id: UUID) -> Response:
    limit = limit_of(request)
    rows = await connection.fetch(f"{statements.EVENTS} LIMIT {limit}", workspace_id)
    total = await connection.fetchval(statements.TOTAL_OF_EVENTS, workspace_id)
    items = []
    for row in rows:
        item = dict(zip(statements.EVENT_FIELDS, row, strict=False))
        item["metadata"] = orjson.Fragment(item["metadata"])
        cost = item.pop("cost_amount"), item.pop("cost_parts"), item.pop("cost_currency")
        item["cost"] = None if cost[2] is None else cost_of(*cost)
        item["label"] = LABELS.get(item["name"], item["name"])
        of_customer = dict(zip(statements.CUSTOMER_FIELDS, row[len(statements.EVENT_FIELDS) :], strict=False))
        item["customer"] = None if of_customer["id"] is None else customer_of(of_customer)
        items.append(item)
    return page_of(items, total, limit, "timestamp")


def cost_of(amount: int, parts: int, currency: str) -> Values:
    decimals = f"{parts:012}".rstrip("0")
    return {"amount": f"{amount}.{decimals}" if decimals else str(amount), "currency": currency}


async def create_customer(request: Request, connection: Connection, workspace_id: UUID) -> Response:
    data = orjson.loads(await request.body())
    now, id, member_id = datetime.now(UTC), uuid4(), uuid4()
    email, name = data["email"], data.get("name")
    folded, name_folded = email.casefold(), name and name.casefold()
    metadata = {
        "customer_id": str(id),
        "customer_email": email,
        "customer_name": name,
        "customer_external_id": None,
    }
    event = orjson.dumps(metadata).decode()
    async with connection.transaction():
        await connection.fetch(
            statements.NEW_CUSTOMER, now, workspace_id, id, email, folded, name, name_folded, ADDRESS_TEXT
        )
        await connection.fetch(statements.NEW_MEMBER, now, workspace_id, member_id, id, email, folded, name)
        await connection.fetch(statements.NEW_EVENT, now, workspace_id, uuid4(), id, event)
        lists = ["customers", "members", "members.customer_id", "events", "events.customer_id"]
        values, delta_id = ["", "", str(id), "", str(id)], uuid4()
        await connection.fetch(statements.NEW_TOTALS, workspace_id, delta_id, lists, values, [1] * len(lists))
        names = ["customer.created"]
        await connection.fetch(statements.NEW_NAMES, workspace_id, delta_id, "system", now, names, [1])
        changes = [("customer.created", id), ("member.created", member_id)]
        await log(request, connection, workspace_id, changes)
    of_both = {"created_at": now, "modified_at": None, "external_id": None, "email": email, "name": name}
    customer = of_both | {
        "id": id,
        "email_verified": False,
        "billing_address": ADDRESS,
        "workspace_id": workspace_id,
        "avatar_url": avatar_of(email),
        "type": "individual",
        "metadata": {},
        "deleted_at": None,
        "members": [of_both | {"id": member_id, "customer_id": id, "role": "owner"}],
    }
    return write(customer, 201)


async def log(
    request: Request,
    connection: Connection,
    workspace_id: UUID,
    changes: Changes,
    *,
    count: int | None = None,
    measured: int | None = None,
) -> None:
    """Write the change log."""
    kinds, ids = zip(*changes, strict=True)
    new = [uuid4() for _ in kinds]
    token_id = request.state.token_id
    values = (workspace_id, token_id, count, new, kinds, ids, measured)
    await connection.fetch(statements.NEW_CHANGES, *values)


async def ingest_events(request: Request, connection: Connection, workspace_id: UUID) -> Response:
    events = orjson.loads(await request.body())["events"]
    now = datetime.now(UTC)
    names = [event["name"] for event in events]
    ids, facts = [uuid4() for _ in names], [uuid4() for _ in names]
    moment = int(now.timestamp() * 1_000_000)
    async with connection.transaction():
        await connection.fetch(statements.NEW_EVENTS, now, workspace_id, ids, names)
        await connection.fetch(statements.NEW_FACTS, workspace_id, facts, moment)
        await connection.fetch(statements.NEW_DELTA, workspace_id, facts[0], moment, len(facts))
        many, delta_id = Counter(names), uuid4()
        await connection.fetch(statements.NEW_TOTALS, workspace_id, delta_id, ["events"], [""], [len(names)])
        await connection.fetch(
            statements.NEW_NAMES, workspace_id, delta_id, "user", now, [*many], [*many.values()]
        )
        ingested = [("events.ingested", None)]
        await log(request, connection, workspace_id, ingested, count=len(names), measured=moment)
    return write({"inserted": len(names), "duplicates": 0, "ids": ids})


def of_document(answer: Callable[[Connection, UUID, str], Coroutine[Any, Any, Any]]) -> Answer:
    """The endpoint of a document, with its variable, or the last day of its metrics, in the path."""

    async def endpoint(request: Request, connection: Connection, workspace_id: UUID) -> Response:
        return write({"data": await answer(connection, workspace_id, request.path_params.get("id", ""))})

    return endpoint


async def health(_: Request) -> Response:
    return write({"status": "ok"})


app = Starlette(
    routes=[
        Route("/health", health),
        Route("/api/shares/", of_workspace("shares:read", list_shares)),
        Route("/api/customers/{id}", of_workspace("customers:read", get_customer)),
        Route("/api/customers/", of_workspace("customers:write", create_customer), methods=["POST"]),
        Route("/api/events/", of_workspace("events:read", list_events)),
        Route("/api/events/ingest", of_workspace("events:write", ingest_events), methods=["POST"]),
        *(
            Route(path, of_workspace(scope, of_document(answer)))
            for path, (scope, answer) in documents.ANSWERS.items()
        ),
    ],
    lifespan=lifespan,
)
