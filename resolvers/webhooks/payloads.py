"""What endpoints are sent: the kind and moment of a change, and its resource as REST reads it now."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import orjson

from oauth.principals import Principal, PrincipalKind
from oauth.scopes import Scope
from resolvers.changes.readable import read_resources, scope_of
from resolvers.operations.context import Caller, Context, Services
from schema.values.scalars import write_moment
from schema.webhooks.services import PayloadDocuments
from storage.changes.kinds import ChangeKind
from storage.tables.webhooks.deliveries import WebhookDeliveryRow
from storage.tables.webhooks.endpoints import WebhookEndpointRow

# In calls, of a document.
MOST_COST = 100


class NoBudget:
    """Charges nothing: what is sent was charged to the call that changed it."""

    async def charge(
        self, subject: str, cost: int, limit: int | None, *, restricted: bool, roof: str | None = None
    ) -> None:
        pass

    def largest(self, limit: int | None) -> int | None:
        # What the graph may have come to cost since the document was saved.
        return MOST_COST

    async def charge_answer(self, size: int) -> None:
        pass

    async def charge_database(self) -> None:
        pass

    def report(self) -> dict[str, int | None]:
        return {}


class Payload(NamedTuple):
    """A body as JSON, and the scopes that read what is in it."""

    body: bytes
    scopes: list[str]


async def read_payloads(
    services: Services,
    endpoint: WebhookEndpointRow,
    scopes: frozenset[Scope],
    deliveries: Sequence[WebhookDeliveryRow],
) -> list[Payload]:
    """The payloads of these deliveries to an endpoint: one statement for each kind of resource."""
    ids: defaultdict[str, set[UUID]] = defaultdict(set)
    for each in deliveries:
        if each.resource_id is not None:
            ids[ChangeKind(each.kind).resource].add(each.resource_id)
    ctx = _context(services, endpoint, scopes)
    documents = services.webhooks.documents
    if endpoint.document is not None and documents is not None:
        return [await _chosen(ctx, documents, endpoint.document, each) for each in deliveries]
    resources = await read_resources(ctx, endpoint.workspace_id, ids)
    return [_payload(each, resources) for each in deliveries]


def write_body(kind: str, at: datetime, resource_id: UUID | None, content: Mapping[str, Any]) -> bytes:
    """The body that tells what happened to a resource at a moment; `content` has its `data`."""
    # Without the id, nobody would know which resource is gone.
    id = None if resource_id is None else str(resource_id)
    return orjson.dumps({"type": kind, "timestamp": write_moment(at), "resource_id": id, **content})


def _payload(delivery: WebhookDeliveryRow, resources: dict[UUID, Any]) -> Payload:
    is_batch = delivery.resource_id is None
    data = {"count": delivery.count} if is_batch else resources.get(delivery.resource_id)  # type: ignore[arg-type]
    body = write_body(delivery.kind, delivery.at, delivery.resource_id, {"data": data})
    return Payload(body, [scope_of(ChangeKind(delivery.kind)).value])


async def _chosen(
    ctx: Context, documents: PayloadDocuments, text: str, delivery: WebhookDeliveryRow
) -> Payload:
    """The payload that a document chooses. What was ingested has no id to give it, and tells its count."""
    if delivery.resource_id is None:
        return _payload(delivery, {})
    content = await documents.run(ctx, text, delivery.resource_id)
    body = write_body(delivery.kind, delivery.at, delivery.resource_id, content)
    return Payload(body, sorted(scope.value for scope in ctx.principal.scopes))


def _context(services: Services, endpoint: WebhookEndpointRow, scopes: frozenset[Scope]) -> Context:
    """The context of reads by an endpoint: its scopes in its one workspace.

    What its document uses counts for the token or application that made it, if one did.
    """
    is_token = endpoint.maker_kind == PrincipalKind.WORKSPACE_TOKEN
    is_client = endpoint.maker_kind == PrincipalKind.OAUTH_TOKEN
    principal = Principal(
        PrincipalKind.WORKSPACE_TOKEN if is_token else PrincipalKind.OAUTH_TOKEN,
        (endpoint.maker_id if is_token else None) or uuid4(),
        scopes,
        endpoint.workspace_id,
        oauth_client_id=endpoint.maker_id if is_client else None,
    )
    return Context(services, Caller(principal, NoBudget(), "webhooks", uuid4().hex))
