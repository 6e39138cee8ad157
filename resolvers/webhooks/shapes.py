"""The shapes of webhooks."""

from resolvers.operations.shapes.shapes import Derived, Shape
from schema.webhooks.deliveries import WebhookDelivery
from schema.webhooks.endpoints import WebhookEndpoint
from storage.dialects.json_rows import moment_text
from storage.enums import DeliveryStatus
from storage.rows.rows import table_of
from storage.tables.webhooks.deliveries import WebhookDeliveryRow
from storage.tables.webhooks.endpoints import WebhookEndpointRow

_deliveries = table_of(WebhookDeliveryRow)


def _next_attempt_at(status: str, due_at: str) -> str | None:
    if status != DeliveryStatus.PENDING:
        return None
    return due_at if due_at.endswith("Z") else moment_text(due_at)


WEBHOOK_ENDPOINT = Shape(WebhookEndpoint, table_of(WebhookEndpointRow))
WEBHOOK_DELIVERY = Shape(
    WebhookDelivery,
    _deliveries,
    {
        "attempt_count": _deliveries.c.attempts,
        "next_attempt_at": Derived(_next_attempt_at, (_deliveries.c.status, _deliveries.c.due_at)),
    },
    # Read by an operation of its own, because what was sent is not for every reader.
    omitted=frozenset({"attempts"}),
)
