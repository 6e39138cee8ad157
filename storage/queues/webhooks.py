"""What webhooks are due: the change log becomes deliveries, which processes claim endpoint by endpoint."""

from collections.abc import Collection, Iterator, Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, and_, exists, func, select, update

from storage.changes.reading import Logged, read_extent, read_log
from storage.clock import now
from storage.engine.connections import Connection
from storage.engine.reach import in_reach
from storage.queues.queue import Queue
from storage.rows.rows import insert_new_rows, table_of
from storage.tables.changes import ChangeRow
from storage.tables.webhooks.deliveries import WebhookDeliveryRow, is_pending
from storage.tables.webhooks.endpoints import WebhookEndpointRow

CHANGES_AT_A_TIME = 500
ENDPOINTS_AT_A_TIME = 200
# Of one endpoint: a receiver that is away, or slower than its workspace, fills no more of the table.
MOST_PENDING = 10_000

_endpoints, _deliveries = table_of(WebhookEndpointRow), table_of(WebhookDeliveryRow)
_changes = table_of(ChangeRow)
_earlier = _deliveries.alias("earlier")

WEBHOOKS = Queue(
    WebhookDeliveryRow,
    order=[_deliveries.c.due_at, _deliveries.c.position],
    lease=timedelta(minutes=1),
    is_waiting=is_pending(_deliveries),
)


class EndpointKey(NamedTuple):
    """An endpoint, by its workspace and id."""

    workspace_id: UUID
    id: UUID


async def workspaces_told(connection: Connection) -> frozenset[UUID]:
    """The workspaces with an endpoint that is told of changes."""
    near = in_reach(connection, _endpoints.c.workspace_id)
    told = select(_endpoints.c.workspace_id).where(_endpoints.c.is_enabled.is_(True), *near).distinct()
    return frozenset((await connection.execute(told)).scalars())


def _those(
    connection: Connection, of: Collection[UUID] | None, besides: Collection[UUID]
) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions on endpoints of these workspaces, or of all, but those with the ids `besides`."""
    yield from in_reach(connection, _endpoints.c.workspace_id)
    yield _endpoints.c.id.not_in(list(besides))
    if of is not None:
        yield _endpoints.c.workspace_id.in_(list(of))


async def endpoints_behind(
    connection: Connection, of: Collection[UUID] | None, *, besides: Collection[UUID]
) -> list[EndpointKey]:
    """Endpoints for which changes of their workspace wait, also those that have no position yet.

    `of` are workspaces, None for all; endpoints with the ids `besides` are left out.
    """
    own = [
        _changes.c.workspace_id == _endpoints.c.workspace_id,
        *in_reach(connection, _changes.c.workspace_id),
    ]
    newer = exists().where(*own, _changes.c.position > _endpoints.c.position)
    waiting = exists().where(*own, _changes.c.position.is_(None))
    behind = (
        select(_endpoints.c.workspace_id, _endpoints.c.id)
        .where(_endpoints.c.is_enabled.is_(True), newer | waiting, *_those(connection, of, besides))
        .limit(ENDPOINTS_AT_A_TIME)
    )
    return [EndpointKey(*row) for row in await connection.execute(behind)]


async def follow(connection: Connection, endpoint: WebhookEndpointRow, kinds: Sequence[str]) -> bool:
    """Turn the next changes of the log into deliveries of an endpoint, which is locked.

    Returns whether more follow. The position is kept in the same transaction, so that a process which dies
    has done all of it or nothing.
    """
    key = EndpointKey(endpoint.workspace_id, endpoint.id)
    own = and_(_endpoints.c.workspace_id == key.workspace_id, _endpoints.c.id == key.id)
    extent = await read_extent(connection, key.workspace_id)
    # Changes that are no longer kept cannot be told.
    after = max(endpoint.position, extent.oldest - 1)
    page = await read_log(
        connection,
        key.workspace_id,
        extent,
        after=after,
        kinds=kinds,
        resource_id=None,
        limit=CHANGES_AT_A_TIME,
    )
    await insert_new_rows(connection, WebhookDeliveryRow, [_delivery(key, change) for change in page.changes])
    await connection.execute(update(_endpoints).where(own).values(position=page.end))
    return page.has_more


async def is_full(connection: Connection, key: EndpointKey) -> bool:
    """Whether the endpoint has as many pending deliveries as it may have: the rest waits in the log."""
    own = _deliveries.c.workspace_id == key.workspace_id, _deliveries.c.endpoint_id == key.id
    last = select(_deliveries.c.id).where(*own, WEBHOOKS.is_waiting).offset(MOST_PENDING - 1).limit(1)
    return (await connection.execute(last)).first() is not None


def _delivery(key: EndpointKey, change: Logged) -> dict[str, object]:
    moment = now()
    return {
        "workspace_id": key.workspace_id,
        "endpoint_id": key.id,
        "change_id": change.id,
        "position": change.position,
        "kind": change.kind,
        "resource_id": change.resource_id,
        "count": change.items,
        "at": change.at,
        "first_due_at": moment,
        "due_at": moment,
    }


async def endpoints_with_work(
    connection: Connection, of: Collection[UUID] | None, *, besides: Collection[UUID]
) -> list[EndpointKey]:
    """Some of the endpoints with deliveries that are due, in any order; `of` and `besides` as above."""
    # By endpoint: thousands of deliveries to one that hangs are not looked through to find another one.
    first_due_at = (
        select(func.min(_deliveries.c.due_at))
        .where(
            _deliveries.c.workspace_id == _endpoints.c.workspace_id,
            _deliveries.c.endpoint_id == _endpoints.c.id,
            WEBHOOKS.is_waiting,
            *in_reach(connection, _deliveries.c.workspace_id),
        )
        .scalar_subquery()
    )
    due = (
        select(_endpoints.c.workspace_id, _endpoints.c.id)
        .where(first_due_at <= now(), *_those(connection, of, besides))
        # With more of them than places, each has its turn.
        .order_by(func.random())
        .limit(ENDPOINTS_AT_A_TIME)
    )
    return [EndpointKey(*row) for row in await connection.execute(due)]


async def has_work(connection: Connection, key: EndpointKey) -> bool:
    """Whether a delivery of the endpoint is due."""
    own = _deliveries.c.workspace_id == key.workspace_id, _deliveries.c.endpoint_id == key.id
    return await WEBHOOKS.has_work(connection, *own)


async def claim_deliveries(connection: Connection, key: EndpointKey, most: int) -> list[WebhookDeliveryRow]:
    """Deliveries of the endpoint that are due: of each resource the first that is pending, and no other."""
    # Not `NOT EXISTS`: PostgreSQL may join by it, and look at all of the endpoint's rows for each of them.
    first = (
        select(func.min(_earlier.c.position))
        .where(
            _earlier.c.workspace_id == key.workspace_id,
            _earlier.c.endpoint_id == key.id,
            _earlier.c.resource_id == _deliveries.c.resource_id,
            is_pending(_earlier),
        )
        .scalar_subquery()
    )
    rows = await WEBHOOKS.claim(
        connection,
        _deliveries.c.endpoint_id == key.id,
        _deliveries.c.position <= func.coalesce(first, _deliveries.c.position),
        within=_deliveries.c.workspace_id == key.workspace_id,
        most=most,
    )
    return sorted(rows, key=lambda row: row.position)
