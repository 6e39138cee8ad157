"""What endpoints are sent: the kind and moment of a change, and its resource as REST reads it now."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import orjson

from oauth.principals import Principal, PrincipalKind
from oauth.scopes import Scope
from resolvers.changes.readable import read_resources
from resolvers.operations.context import Caller, Context, Services
from schema.values.scalars import write_moment
from storage.changes.kinds import ChangeKind
from storage.tables.webhooks.deliveries import WebhookDeliveryRow


class NoBudget:
    """Charges nothing: what is sent was charged to the call that changed it."""

    async def charge(
        self, subject: str, cost: int, limit: int | None, *, restricted: bool, roof: str | None = None
    ) -> None:
        pass

    def largest(self, limit: int | None) -> int | None:
        return None

    async def charge_answer(self, size: int) -> None:
        pass

    async def charge_database(self) -> None:
        pass

    def report(self) -> dict[str, int | None]:
        return {}


async def read_payloads(
    services: Services, workspace_id: UUID, scopes: frozenset[Scope], deliveries: Sequence[WebhookDeliveryRow]
) -> list[bytes]:
    """The bodies of these deliveries of a workspace, as JSON: one statement for each kind of resource."""
    ids: defaultdict[str, set[UUID]] = defaultdict(set)
    for each in deliveries:
        if each.resource_id is not None:
            ids[ChangeKind(each.kind).resource].add(each.resource_id)
    ctx = _context(services, workspace_id, scopes)
    resources = await read_resources(ctx, workspace_id, ids)
    return [_body(each, resources) for each in deliveries]


def _body(delivery: WebhookDeliveryRow, resources: dict[UUID, Any]) -> bytes:
    is_batch = delivery.resource_id is None
    data = {"count": delivery.count} if is_batch else resources.get(delivery.resource_id)  # type: ignore[arg-type]
    return orjson.dumps({"type": delivery.kind, "timestamp": write_moment(delivery.at), "data": data})


def _context(services: Services, workspace_id: UUID, scopes: frozenset[Scope]) -> Context:
    """The context of reads by an endpoint: its scopes in its one workspace."""
    principal = Principal(PrincipalKind.WORKSPACE_TOKEN, uuid4(), scopes, workspace_id)
    return Context(services, Caller(principal, NoBudget(), "webhooks", uuid4().hex))
