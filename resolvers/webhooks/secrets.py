"""The secrets of webhook endpoints: sealed, and shown only when they are made."""

from base64 import b64encode
from contextlib import suppress
from datetime import timedelta
from secrets import token_bytes
from uuid import uuid4

from sqlalchemy import ColumnElement

from storage.clock import now
from storage.engine.connections import Connection
from storage.rows.rows import delete_rows, every, insert_row, table_of, update_rows
from storage.sealing import Purpose, Unreadable, seal, unseal
from storage.tables.webhooks.endpoints import WebhookEndpointRow, WebhookSecretRow

_table = table_of(WebhookSecretRow)

PREFIX = "whsec_"
# Standard Webhooks asks for 24 to 64.
SECRET_BYTES = 32
# For so long a replaced secret signs too, while receivers change over.
OVERLAP = timedelta(hours=24)


async def add_secret(connection: Connection, secret_key: bytes, endpoint: WebhookEndpointRow) -> str:
    """Give the endpoint a new secret, and the one before it an end. Returns the text to show."""
    present = _of(endpoint) & _table.c.ends_at.is_(None)
    await update_rows(connection, WebhookSecretRow, present, ends_at=now() + OVERLAP)
    id, secret = uuid4(), token_bytes(SECRET_BYTES)
    sealed = seal(secret_key, Purpose.WEBHOOK_SECRET, secret, str(id))
    await insert_row(
        connection,
        WebhookSecretRow,
        workspace_id=endpoint.workspace_id,
        id=id,
        endpoint_id=endpoint.id,
        sealed=sealed,
    )
    return PREFIX + b64encode(secret).decode()


async def open_secrets(
    connection: Connection, secret_key: bytes, endpoint: WebhookEndpointRow
) -> list[bytes]:
    """The secrets that sign now, newest first; one that cannot be opened is left out."""
    signing = _table.c.ends_at.is_(None) | (_table.c.ends_at > now())
    rows = await every(connection, WebhookSecretRow, _of(endpoint), signing)
    secrets = []
    for row in sorted(rows, key=lambda row: row.created_at, reverse=True):
        with suppress(Unreadable):
            secrets.append(unseal(secret_key, Purpose.WEBHOOK_SECRET, row.sealed, str(row.id)))
    return secrets


async def delete_secrets(connection: Connection, endpoint: WebhookEndpointRow) -> None:
    """Delete all secrets of the endpoint."""
    await delete_rows(connection, WebhookSecretRow, _of(endpoint))


def _of(endpoint: WebhookEndpointRow) -> ColumnElement[bool]:
    return (_table.c.workspace_id == endpoint.workspace_id) & (_table.c.endpoint_id == endpoint.id)
