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
from storage.rows.rows import insert_rows, table_of
from storage.tables.webhooks.deliveries import WebhookAttemptRow, WebhookDeliveryRow
from storage.tables.webhooks.endpoints import WebhookEndpointRow
from storage.upkeep.claims import as_claimed

# What becomes of attempts, counted for monitoring in this process.
OUTCOMES = SUCCEEDED, POSTPONED, GIVEN_UP = "succeeded", "postponed", "given_up"
outcomes: Counter[str] = Counter()

_deliveries = table_of(WebhookDeliveryRow)


async def record(
    connection: Connection,
    endpoint: WebhookEndpointRow | None,
    made: Sequence[tuple[WebhookDeliveryRow, Attempt]],
    at: datetime,
    own_address: str,
) -> None:
    """Record what became of claimed deliveries, whose endpoint is locked."""
    await insert_rows(connection, WebhookAttemptRow, [_row(*each) for each in made])
    for delivery, attempt in made:
        values = _state(delivery, attempt, at)
        await connection.execute(update(_deliveries).where(as_claimed(delivery)).values(values))
        outcomes[SUCCEEDED if attempt.is_success else GIVEN_UP if "status" in values else POSTPONED] += 1
        if "status" not in values:
            await _hold_back(connection, delivery, values["due_at"])
    if endpoint is not None and endpoint.is_enabled:
        if any(attempt.is_gone for _, attempt in made):
            await note_gone(connection, endpoint, own_address)
        elif any(attempt.is_success for _, attempt in made):
            await note_success(connection, endpoint)
        elif made:
            await note_failure(connection, endpoint, at, own_address)


def _state(delivery: WebhookDeliveryRow, attempt: Attempt, at: datetime) -> dict[str, object]:
    """The columns of the delivery that change."""
    if attempt.is_success:
        return {"status": DeliveryStatus.SUCCEEDED.value, "ended_at": at}
    attempts = delivery.attempts - delivery.attempts_before
    due_at = next_try(attempts, delivery.first_due_at, at, attempt.retry_after)
    if due_at is None:
        return {"status": DeliveryStatus.FAILED.value, "ended_at": at}
    return {"due_at": due_at}


async def _hold_back(connection: Connection, delivery: WebhookDeliveryRow, due_at: object) -> None:
    """Have later changes of the resource wait as long: until then no process needs to look at them."""
    later = (
        (_deliveries.c.workspace_id == delivery.workspace_id)
        & (_deliveries.c.endpoint_id == delivery.endpoint_id)
        & (_deliveries.c.resource_id == delivery.resource_id)
        & (_deliveries.c.position > delivery.position)
        & (_deliveries.c.status == DeliveryStatus.PENDING.value)
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
