"""What attempts leave: their rows, the state of their deliveries, and the health of the endpoint."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from random import random

from sqlalchemy import ColumnElement, update

from gateway.webhooks.retries import next_try
from resolvers.webhooks.health import note_failure, note_gone, note_success
from schema.webhooks.services import Attempt
from storage.engine.connections import Connection
from storage.enums import DeliveryStatus
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
    await _fail(connection, [each for each in attempts if not each[1].is_success], at)
    await _claim_again(connection, [delivery for delivery, attempt in made if attempt is None], at)
    if endpoint is not None and endpoint.is_enabled:
        if any(attempt.is_gone for _, attempt in attempts):
            await note_gone(connection, endpoint, own_address)
        elif any(attempt.is_success for _, attempt in attempts):
            await note_success(connection, endpoint)
        elif attempts:
            await note_failure(connection, endpoint, at, own_address)


def _claimed(deliveries: Sequence[WebhookDeliveryRow]) -> Iterator[ColumnElement[bool]]:
    """Yield conditions on deliveries of one workspace, unless another process has claimed them meanwhile."""
    for attempts in {each.attempts for each in deliveries}:
        home = _deliveries.c.workspace_id == deliveries[0].workspace_id
        ids = _deliveries.c.id.in_([each.id for each in deliveries if each.attempts == attempts])
        yield home & ids & (_deliveries.c.attempts == attempts)


async def _succeed(connection: Connection, deliveries: Sequence[WebhookDeliveryRow], at: datetime) -> None:
    values = {"status": DeliveryStatus.SUCCEEDED.value, "ended_at": at}
    for claimed in _claimed(deliveries):
        await connection.execute(update(_deliveries).where(claimed).values(values))
    outcomes[SUCCEEDED] += len(deliveries)


async def _claim_again(
    connection: Connection, deliveries: Sequence[WebhookDeliveryRow], at: datetime
) -> None:
    """Have what was not begun be due at once, as if it had not been claimed."""
    values = {"due_at": at, "attempts_before": _deliveries.c.attempts_before + 1}
    for claimed in _claimed(deliveries):
        await connection.execute(update(_deliveries).where(claimed).values(values))


async def _fail(
    connection: Connection, failed: Sequence[tuple[WebhookDeliveryRow, Attempt]], at: datetime
) -> None:
    """Plan the next attempts, in a few statements for all that were sent together."""
    chance = random()  # noqa: S311 - it spreads retries, and keeps no secret
    planned = defaultdict[datetime | None, list[WebhookDeliveryRow]](list)
    for delivery, attempt in failed:
        attempts = delivery.attempts - delivery.attempts_before
        due_at = next_try(attempts, delivery.first_due_at, at, attempt.retry_after, lambda: chance)
        planned[due_at].append(delivery)
    for due_at, deliveries in planned.items():
        is_last = due_at is None
        values = {"status": DeliveryStatus.FAILED.value, "ended_at": at} if is_last else {"due_at": due_at}
        for claimed in _claimed(deliveries):
            await connection.execute(update(_deliveries).where(claimed).values(values))
        outcomes[GIVEN_UP if is_last else POSTPONED] += len(deliveries)
        if due_at is not None:
            await _hold_back(connection, deliveries, due_at)


async def _hold_back(
    connection: Connection, deliveries: Sequence[WebhookDeliveryRow], due_at: datetime
) -> None:
    """Have later changes of the resources wait as long: until then no process needs to look at them."""
    ids = [each.resource_id for each in deliveries if each.resource_id is not None]
    if not ids:
        # What was ingested waits for nothing.
        return
    later = (
        (_deliveries.c.workspace_id == deliveries[0].workspace_id)
        & (_deliveries.c.endpoint_id == deliveries[0].endpoint_id)
        & _deliveries.c.resource_id.in_(ids)
        & (_deliveries.c.position > min(each.position for each in deliveries))
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
