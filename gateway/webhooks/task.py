"""The webhooks of one gateway: its connections, its worker, and the background task that runs it."""

from collections.abc import Collection
from functools import partial
from uuid import UUID

from gateway.background.tasks import BackgroundTask
from gateway.settings.settings import Settings
from gateway.webhooks.connections import Connections
from gateway.webhooks.delivery import LOOKS_EVERY_SECONDS, Delivery
from gateway.webhooks.sending import send
from resolvers.graph.http.endpoint import GraphQLEndpoint
from resolvers.graph.http.stored_documents import StoredDocuments
from resolvers.graph.root import Schema
from resolvers.operations.context import Services
from schema.webhooks.services import WebhookServices


class Webhooks:
    """`services` is what resolvers use; `task_for` begins the delivery of what they commit."""

    def __init__(self, settings: Settings, schema: Schema, graphql: GraphQLEndpoint) -> None:
        self._connections = Connections(settings.webhook_allow)
        self._delivery: Delivery | None = None
        self._task = BackgroundTask("webhooks", self._run, LOOKS_EVERY_SECONDS)
        documents = StoredDocuments(schema, graphql)
        self.services = WebhookServices(partial(send, self._connections), documents, self._wake)

    def task_for(self, services: Services) -> BackgroundTask:
        """The task that delivers the webhooks of the database of these services."""
        self._delivery = Delivery(services)
        return self._task

    async def close(self) -> None:
        """End deliveries and connections; what was being sent is claimed again after its lease."""
        if self._delivery is not None:
            await self._delivery.close()
        self._connections.close()

    def _wake(self, workspace_ids: Collection[UUID] | None) -> None:
        """Look now, unless only workspaces changed that have no endpoint, as most have."""
        if self._delivery is not None and self._delivery.concerns(workspace_ids):
            self._task.wake()

    async def _run(self) -> bool:
        return self._delivery is not None and await self._delivery.run()
