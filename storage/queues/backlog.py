"""What waits in the database to be done, for monitoring: counted up to a bound, so that asking is cheap."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, ScalarSelect, Table, bindparam, exists, func, literal, select, text

from storage.clock import now
from storage.engine.database import Database
from storage.rows.rows import table_of
from storage.tables.idempotency_keys import IdempotencyKeyRow
from storage.tables.mails import MailRow
from storage.tables.metrics.metric_cells import MetricDeltaRow
from storage.tables.shares.files import UNFINISHED, FileRow
from storage.tables.webhooks.deliveries import WebhookDeliveryRow, is_pending
from storage.tables.webhooks.endpoints import WebhookEndpointRow
from storage.types import MomentColumn

MOST_COUNTED = 10_000


class Backlog(NamedTuple):
    """Numbers of rows, none above `MOST_COUNTED`.

    `oldest_mail` is when the oldest email was written, `webhook_due_at` since when a webhook is due. Webhooks
    of receivers that fail do not count: they wait for these, and not for this service.
    """

    deltas: int
    mails: int
    open_uploads: int
    idempotency_keys: int
    oldest_mail: datetime | None
    webhooks: int
    webhook_due_at: datetime | None


def _many(table: Table, *conditions: ColumnElement[bool]) -> ScalarSelect[int]:
    rows = select(literal(1).label("one")).select_from(table).where(*conditions).limit(MOST_COUNTED)
    return select(func.count()).select_from(rows.subquery()).scalar_subquery()


_mails, _deliveries = table_of(MailRow), table_of(WebhookDeliveryRow)
_endpoints = table_of(WebhookEndpointRow)
_some_mails = select(_mails.c.created_at).order_by(_mails.c.due_at).limit(MOST_COUNTED).subquery()
_DUE = (
    is_pending(_deliveries),
    _deliveries.c.due_at <= bindparam("moment", type_=MomentColumn(timezone=True)),
    exists().where(
        _endpoints.c.workspace_id == _deliveries.c.workspace_id,
        _endpoints.c.id == _deliveries.c.endpoint_id,
        _endpoints.c.failing_since.is_(None),
    ),
)
_BACKLOG = select(
    _many(table_of(MetricDeltaRow)),
    _many(_mails),
    _many(table_of(FileRow), text(UNFINISHED.text)),  # type: ignore[arg-type]
    _many(table_of(IdempotencyKeyRow)),
    select(func.min(_some_mails.c.created_at)).scalar_subquery(),
    _many(_deliveries, *_DUE),
    select(func.min(_deliveries.c.due_at)).where(*_DUE).scalar_subquery(),
)


async def read_backlog(database: Database) -> Backlog:
    """Raises the errors of the database."""
    async with database.read() as connection:
        (row,) = (await connection.execute(_BACKLOG, {"moment": now()})).all()
        return Backlog(*row)
