"""What attempts leave: their rows, the state of their deliveries, and the health of the endpoint."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import update

from gateway.webhooks.retries import next_try
from resolvers.webhooks.health import note_failure, note_gone, note_success
from schema.webhooks.services import Attempt
from storage.engine.connections import Connection
from storage.enums import DeliveryStatus
from storage.queues.webhooks import WEBHOOKS
from storage.rows.rows import insert_rows, table_of
from storage.tables.webhooks.deliveries import WebhookAttemptRow, WebhookDeliveryRow, is_pending
from storage.tables.webhooks.endpoints import WebhookEndpointRow

# What becomes of attempts, counted for monitoring in this process.
OUTCOMES = SUCCEEDED, POSTPONED, GIVEN_UP = "succeeded", "postponed", "given_up"
outcomes: Counter[str] = Counter()

# A claimed delivery and what became of it; None if it was not begun.
Made = tuple[WebhookDeliveryRow, Attempt | None]

_deliveries = table_of(WebhookDeliveryRow)


async def record(
    connection: Connection,
    endpoint: WebhookEndpointRow | None,
    made: Sequence[Made],
    at: datetime,
    own_address: str,
) -> None:
    """Record what became of claimed deliveries, whose locked endpoint is None if they say nothing of it."""
    attempts = [(delivery, attempt) for delivery, attempt in made if attempt is not None]
    await insert_rows(connection, WebhookAttemptRow, [_row(*each) for each in attempts])
    await _succeed(connection, [delivery for delivery, attempt in attempts if attempt.is_success], at)
    for delivery, attempt in made:
        if attempt is None:
            again = {"due_at": at, "attempts_before": delivery.attempts_before + 1}
            await connection.execute(update(_deliveries).where(WEBHOOKS.is_claimed(delivery)).values(again))
        elif not attempt.is_success:
            await _fail(connection, delivery, attempt, at)
    if endpoint is not None and endpoint.is_enabled:
        if any(attempt.is_gone for _, attempt in attempts):
            await note_gone(connection, endpoint, own_address)
        elif any(attempt.is_success for _, attempt in attempts):
            await note_success(connection, endpoint)
        elif attempts:
            await note_failure(connection, endpoint, at, own_address)


async def _succeed(connection: Connection, deliveries: Sequence[WebhookDeliveryRow], at: datetime) -> None:
    """End deliveries of one workspace, in one statement for all that were claimed as often."""
    values = {"status": DeliveryStatus.SUCCEEDED.value, "ended_at": at}
    for attempts in {each.attempts for each in deliveries}:
        same = [each for each in deliveries if each.attempts == attempts]
        home = _deliveries.c.workspace_id == same[0].workspace_id
        ids = _deliveries.c.id.in_([each.id for each in same])
        claimed = home & ids & (_deliveries.c.attempts == attempts)
        await connection.execute(update(_deliveries).where(claimed).values(values))
    outcomes[SUCCEEDED] += len(deliveries)


async def _fail(connection: Connection, delivery: WebhookDeliveryRow, attempt: Attempt, at: datetime) -> None:
    attempts = delivery.attempts - delivery.attempts_before
    due_at = next_try(attempts, delivery.first_due_at, at, attempt.retry_after)
    is_last = due_at is None
    values = {"status": DeliveryStatus.FAILED.value, "ended_at": at} if is_last else {"due_at": due_at}
    await connection.execute(update(_deliveries).where(WEBHOOKS.is_claimed(delivery)).values(values))
    outcomes[GIVEN_UP if is_last else POSTPONED] += 1
    if not is_last:
        await _hold_back(connection, delivery, due_at)


async def _hold_back(connection: Connection, delivery: WebhookDeliveryRow, due_at: object) -> None:
    """Have later changes of the resource wait as long: until then no process needs to look at them."""
    later = (
        (_deliveries.c.workspace_id == delivery.workspace_id)
        & (_deliveries.c.endpoint_id == delivery.endpoint_id)
        & (_deliveries.c.resource_id == delivery.resource_id)
        & (_deliveries.c.position > delivery.position)
        & is_pending(_deliveries)
        & (_deliveries.c.due_at < due_at)
    )
    await connection.execute(update(_deliveries).where(later).values(due_at=due_at))


def _row(delivery: WebhookDeliveryRow, attempt: Attempt) -> dict[str, object]:
    return {
        "workspace_id": delivery.workspace_id,
        "delivery_id": delivery.id,
        "created_at": attempt.at,
        "milliseconds": attempt.milliseconds,
        "status": attempt.status,
        "code": attempt.code,
        "request_headers": attempt.request_headers,
        "request_body": attempt.request_body,
        "response_headers": attempt.response_headers,
        "response_body": attempt.response_body,
        "scopes": list(attempt.scopes),
    }
