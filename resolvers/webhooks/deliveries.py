"""Operations on webhook deliveries."""

from uuid import UUID

from sqlalchemy import select

from oauth.principals import Principal
from oauth.scopes import Scope, covers
from resolvers.changes.readable import SCOPES, readable_kinds
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.access import absent
from resolvers.operations.rows.filters import any_of
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import check_workspaces, get_for_update, get_visible
from resolvers.operations.rows.reading import read_one, read_page
from resolvers.webhooks.redelivery import check_enabled, redeliver, redeliver_some
from resolvers.webhooks.shapes import WEBHOOK_DELIVERY
from schema.errors import Invalid, NotFound, problem
from schema.kit.pages import Page
from schema.kit.sorting import CreatedAtSorting
from schema.webhooks.deliveries import (
    WebhookAttempt,
    WebhookDelivery,
    WebhookDeliveryQuery,
    WebhookRedelivered,
    WebhookRedelivery,
)
from storage.changes.kinds import ChangeKind
from storage.rows.rows import every_of, table_of
from storage.tables.webhooks.deliveries import WebhookAttemptRow, WebhookDeliveryRow
from storage.tables.webhooks.endpoints import WebhookEndpointRow

_deliveries, _attempts = table_of(WebhookDeliveryRow), table_of(WebhookAttemptRow)
_COLUMNS = ("workspace_id", "endpoint_id", "status", "kind", "resource_id")
LISTING = Listing(
    WebhookDeliveryRow,
    CreatedAtSorting,
    default="-created_at",
    query=WebhookDeliveryQuery,
    filters={name: any_of(_deliveries.c[name]) for name in _COLUMNS},
)


@requires(Scope.WEBHOOKS_READ)
async def list_webhook_deliveries(ctx: Context, filters: WebhookDeliveryQuery) -> Page[WebhookDelivery]:
    """Lists webhook deliveries, newest first unless sorted otherwise, without their attempts.

    The list has the kinds of changes whose resource the credential's scopes can read. Deliveries are kept for
    30 days.
    """
    await check_workspaces(ctx, filters.workspace_id)
    asked = list(ChangeKind) if filters.kind is None else filters.kind
    kinds = readable_kinds(ctx.principal, asked)
    if len(kinds) < len(asked):
        # A copy would also have what was worked out for the filters that were sent.
        filters = WebhookDeliveryQuery.model_construct(**{**dict(filters), "kind": kinds})
    return await read_page(ctx, LISTING, WEBHOOK_DELIVERY, filters)


async def with_attempts(ctx: Context, delivery: WebhookDelivery) -> WebhookDelivery:
    """The delivery with its attempts. Raises `NotFound` for a kind that the caller cannot read."""
    if not readable_kinds(ctx.principal, [delivery.kind]):
        raise absent(WebhookDeliveryRow)
    if not ctx.wants("attempts"):
        return delivery
    own = (
        _attempts.c.workspace_id == delivery.workspace_id,
        _attempts.c.delivery_id == delivery.id,
    )
    statement = select(_attempts).where(*own).order_by(_attempts.c.created_at, _attempts.c.id)
    async with ctx.read() as connection:
        rows = await every_of(connection, WebhookAttemptRow, statement)
    values = {name: getattr(delivery, name) for name in WebhookDelivery.model_fields}
    return WebhookDelivery.made(**values | {"attempts": [_attempt(ctx.principal, row) for row in rows]})


@requires(Scope.WEBHOOKS_READ, finish=with_attempts)
async def get_webhook_delivery(ctx: Context, id: UUID) -> WebhookDelivery:
    """Returns a webhook delivery with every attempt.

    Bodies are null unless the credential has the scopes that read what was sent.
    """
    return await read_one(ctx, WebhookDeliveryRow, WEBHOOK_DELIVERY, id=id)


@requires(Scope.WEBHOOKS_WRITE, gives=get_webhook_delivery, finish=with_attempts, causes=())
async def redeliver_webhook_delivery(ctx: Context, id: UUID) -> WebhookDelivery:
    """Sends a webhook delivery again, with the same `webhook-id`, and retries it like a new one.

    What is sent is the resource as it is now. The endpoint must be enabled, and still ask for the kind.
    """
    row = await get_visible(ctx, WebhookDeliveryRow, id=id)
    if not readable_kinds(ctx.principal, [ChangeKind(row.kind)]):
        raise absent(WebhookDeliveryRow)
    try:
        endpoint = await get_for_update(ctx, WebhookEndpointRow, id=row.endpoint_id)
    except NotFound:
        message = "The endpoint of this delivery was deleted"
        raise Invalid([problem(("id",), message, "endpoint_deleted")]) from None
    check_enabled(endpoint)
    await redeliver(ctx, endpoint, row.id)
    return await read_one(ctx, WebhookDeliveryRow, WEBHOOK_DELIVERY, id=id)


@requires(Scope.WEBHOOKS_WRITE, causes=())
async def redeliver_webhook_endpoint(ctx: Context, id: UUID, data: WebhookRedelivery) -> WebhookRedelivered:
    """Sends the deliveries of an endpoint again that were made in a span of time, the oldest first.

    Each keeps its `webhook-id`. One call sends up to 1,000 of those whose kind the credential can read.
    """
    endpoint = await get_for_update(ctx, WebhookEndpointRow, id=id)
    check_enabled(endpoint)
    kinds = readable_kinds(ctx.principal, ChangeKind)
    return await redeliver_some(ctx, endpoint, data, [kind.value for kind in kinds])


def _attempt(principal: Principal, row: WebhookAttemptRow) -> WebhookAttempt:
    """The attempt as the principal sees it: without bodies that its scopes do not read."""
    values = {name: getattr(row, name) for name in WebhookAttempt.model_fields if name in _attempts.c}
    values["scopes"] = sorted(SCOPES) if row.scopes is None else row.scopes
    made = WebhookAttempt.made(at=row.created_at, duration=row.milliseconds, **values)
    if all(covers(principal.scopes, Scope(scope)) for scope in values["scopes"]):
        return made
    return made.model_copy(update={"request_body": None, "response_body": None})
