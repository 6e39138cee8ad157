"""Trial messages to webhook endpoints, which their owners ask for."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

from oauth.scopes import Scope
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.lookups import get_visible
from resolvers.webhooks.payloads import write_body
from resolvers.webhooks.secrets import open_secrets
from schema.webhooks.deliveries import WebhookAttempt
from schema.webhooks.services import Message
from storage.clock import now
from storage.tables.webhooks.endpoints import WebhookEndpointRow

KIND = "webhook.test"


@asynccontextmanager
async def sent_trial(ctx: Context, id: UUID) -> AsyncIterator[WebhookAttempt]:
    """Sends the message before the change begins: a receiver may take ten seconds."""
    endpoint = await get_visible(ctx, WebhookEndpointRow, id=id)
    async with ctx.read() as connection:
        secrets = await open_secrets(connection, ctx.services.secret_key, endpoint)
    body = write_body(KIND, now(), None, {"data": {"endpoint_id": str(endpoint.id)}})
    attempt = await ctx.services.webhooks.send(Message(endpoint.url, str(uuid4()), body, secrets))
    values = {name: getattr(attempt, name) for name in WebhookAttempt.model_fields if hasattr(attempt, name)}
    yield WebhookAttempt.made(**values | {"duration": attempt.milliseconds, "scopes": []})


@requires(Scope.WEBHOOKS_WRITE, prepare=sent_trial, causes=())
async def test_webhook_endpoint(ctx: Context, id: UUID) -> WebhookAttempt:
    """Sends a `webhook.test` to a webhook endpoint now, enabled or not, and returns the attempt.

    It is signed like every other, has the endpoint's id as its `data`, and is not retried or kept.
    """
    attempt: WebhookAttempt = ctx.prepared
    return attempt
