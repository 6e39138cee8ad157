"""Sending deliveries again: they are due at once, and their retries begin anew."""

from uuid import UUID

from sqlalchemy import select, update

from resolvers.operations.context import Context
from schema.errors import Invalid, problem
from schema.webhooks.deliveries import MOST_REDELIVERED, WebhookRedelivered, WebhookRedelivery
from storage.clock import now
from storage.enums import DeliveryStatus
from storage.rows.rows import table_of
from storage.tables.webhooks.deliveries import WebhookDeliveryRow
from storage.tables.webhooks.endpoints import WebhookEndpointRow

# Each keeps both sides, which an answer with one delivery has all of.
MOST_ATTEMPTS = 100

_table = table_of(WebhookDeliveryRow)


def check_enabled(endpoint: WebhookEndpointRow) -> None:
    """Raises `Invalid` if the endpoint is told nothing at present."""
    if not endpoint.is_enabled:
        message = "The endpoint is disabled, so nothing is sent to it: enable it first"
        raise Invalid([problem(("id",), message, "endpoint_disabled")])


def wake_after(ctx: Context) -> None:
    """Have the worker look once the change is committed."""

    async def wake() -> None:
        ctx.services.webhooks.wake(None)

    ctx.afterwards.append(wake)


async def redeliver(ctx: Context, endpoint: WebhookEndpointRow, id: UUID) -> None:
    """Make a delivery of the endpoint, which is locked, due. Raises `Invalid` after too many attempts."""
    own = (_table.c.workspace_id == endpoint.workspace_id) & (_table.c.id == id)
    again = update(_table).where(own, _table.c.attempts < MOST_ATTEMPTS).values(_again())
    if (await ctx.connection.execute(again)).rowcount == 0:
        message = f"It was attempted {MOST_ATTEMPTS} times, which is the most"
        raise Invalid([problem(("id",), message, "too_many_attempts")])
    wake_after(ctx)


async def redeliver_some(
    ctx: Context, endpoint: WebhookEndpointRow, asked: WebhookRedelivery, kinds: list[str]
) -> WebhookRedelivered:
    """The same for the deliveries of these kinds that are asked for."""
    chosen = (
        (_table.c.workspace_id == endpoint.workspace_id)
        & (_table.c.endpoint_id == endpoint.id)
        & (_table.c.created_at >= asked.since)
        & (_table.c.created_at < (asked.until or now()))
        & _table.c.status.in_([status.value for status in asked.status])
        & _table.c.kind.in_(kinds)
        & (_table.c.attempts < MOST_ATTEMPTS)
        # What is due already is no more so by another call.
        & ((_table.c.status != DeliveryStatus.PENDING.value) | (_table.c.due_at > now()))
    )
    oldest = select(_table.c.id).where(chosen).order_by(_table.c.created_at, _table.c.id)
    ids = list((await ctx.connection.execute(oldest.limit(MOST_REDELIVERED + 1))).scalars())
    some = _table.c.id.in_(ids[:MOST_REDELIVERED])
    own = _table.c.workspace_id == endpoint.workspace_id
    await ctx.connection.execute(update(_table).where(own, some).values(_again()))
    wake_after(ctx)
    return WebhookRedelivered.made(
        redelivered=min(len(ids), MOST_REDELIVERED), has_more=len(ids) > MOST_REDELIVERED
    )


def _again() -> dict[str, object]:
    moment = now()
    return {
        "status": DeliveryStatus.PENDING.value,
        "first_due_at": moment,
        "due_at": moment,
        "ended_at": None,
        "attempts_before": _table.c.attempts,
    }
