"""The shapes of webhooks."""

from resolvers.operations.shapes.shapes import Shape
from schema.webhooks.endpoints import WebhookEndpoint
from storage.rows.rows import table_of
from storage.tables.webhooks.endpoints import WebhookEndpointRow

WEBHOOK_ENDPOINT = Shape(WebhookEndpoint, table_of(WebhookEndpointRow))
