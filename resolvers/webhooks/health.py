"""Endpoints that fail: their owners are told once after an hour, and after three days they are disabled."""

from datetime import datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import select, update

from resolvers.mails.brands import brand_of
from resolvers.mails.mails import make_mails
from resolvers.mails.members import mailed_members
from schema.languages.speech import gettext, noted
from storage.clock import now
from storage.engine.connections import Connection
from storage.enums import DeliveryStatus
from storage.queues.mails import write_mails
from storage.queues.webhooks import EndpointKey
from storage.rows.rows import table_of, update_rows
from storage.tables.webhooks.deliveries import WebhookDeliveryRow, is_pending
from storage.tables.webhooks.endpoints import WebhookEndpointRow
from storage.tables.workspaces.workspaces import WorkspaceRow

WARNED_AFTER, DISABLED_AFTER = timedelta(hours=1), timedelta(days=3)
GONE = noted("The endpoint answered 410, so it wants no more deliveries.")
FAILED = noted("No delivery succeeded for 3 days.")
ENDED = "The access of the endpoint's creator ended."

_endpoints, _deliveries = table_of(WebhookEndpointRow), table_of(WebhookDeliveryRow)
_workspaces = table_of(WorkspaceRow)


async def note_success(connection: Connection, endpoint: WebhookEndpointRow) -> None:
    """The endpoint works, or works again."""
    if endpoint.failing_since is not None:
        await _set(connection, endpoint, failing_since=None, warned_at=None)


async def note_failure(
    connection: Connection, endpoint: WebhookEndpointRow, at: datetime, own_address: str
) -> None:
    """An attempt failed, and none succeeded beside it; `own_address` is that of our pages."""
    since = endpoint.failing_since or at
    if at - since >= DISABLED_AFTER:
        await disable(connection, endpoint, FAILED)
        await _mail_owners(connection, endpoint, own_address, FAILED)
    elif at - since >= WARNED_AFTER and endpoint.warned_at is None:
        await _set(connection, endpoint, failing_since=since, warned_at=at)
        await _mail_owners(connection, endpoint, own_address)
    elif endpoint.failing_since is None:
        await _set(connection, endpoint, failing_since=since)


async def note_gone(connection: Connection, endpoint: WebhookEndpointRow, own_address: str) -> None:
    """The endpoint asked for no more."""
    await disable(connection, endpoint, GONE)
    await _mail_owners(connection, endpoint, own_address, GONE)


async def disable(connection: Connection, endpoint: WebhookEndpointRow, reason: str) -> None:
    """Tell the endpoint nothing more, and skip what is pending."""
    own = (_endpoints.c.workspace_id == endpoint.workspace_id) & (_endpoints.c.id == endpoint.id)
    values = {"is_enabled": False, "disabled_reason": reason, "failing_since": None, "warned_at": None}
    await update_rows(connection, WebhookEndpointRow, own, **values)
    await skip_pending(connection, endpoint)


async def skip_pending(
    connection: Connection, endpoint: WebhookEndpointRow | EndpointKey, *, but: list[str] | None = None
) -> None:
    """End the pending deliveries of the endpoint, except those of the kinds in `but`."""
    pending = (
        (_deliveries.c.workspace_id == endpoint.workspace_id)
        & (_deliveries.c.endpoint_id == endpoint.id)
        & is_pending(_deliveries)
    )
    if but is not None:
        pending &= _deliveries.c.kind.not_in(but)
    values = {"status": DeliveryStatus.SKIPPED.value, "ended_at": now()}
    await connection.execute(update(_deliveries).where(pending).values(values))


async def _set(connection: Connection, endpoint: WebhookEndpointRow, **values: Any) -> None:
    """Change what no answer shows."""
    own = (_endpoints.c.workspace_id == endpoint.workspace_id) & (_endpoints.c.id == endpoint.id)
    await connection.execute(update(_endpoints).where(own).values(values))


async def _mail_owners(
    connection: Connection,
    endpoint: WebhookEndpointRow,
    own_address: str,
    reason: str | None = None,
) -> None:
    """Tell the owners that the endpoint fails or, with a reason, that it was disabled."""
    statement = select(_workspaces.c.name, _workspaces.c.slug, _workspaces.c.avatar_url)
    own_row = statement.where(_workspaces.c.id == endpoint.workspace_id)
    workspace = (await connection.execute(own_row)).one()
    brand = brand_of(endpoint.workspace_id, workspace.name, workspace.avatar_url, own_address)
    mails = make_mails(
        await mailed_members(connection, endpoint.workspace_id, owners_only=True),
        "webhook_endpoint",
        brand=brand,
        workspace=workspace.name,
        url=endpoint.url,
        reason=None if reason is None else partial(gettext, reason),
        page=f"{own_address}/workspaces/{workspace.slug}",
    )
    await write_mails(connection, mails, endpoint.workspace_id)
