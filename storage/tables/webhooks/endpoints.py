"""The `webhook_endpoints` table, and `webhook_secrets` with the keys that sign what they receive."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, Index
from sqlmodel import Field

from storage.tables.base import TenantRow, references
from storage.types import JsonColumn, MomentColumn


class WebhookEndpointRow(TenantRow, table=True):
    """A URL that is told of changes of these `kinds`, as far as `scopes` read their resources.

    `kinds` is `["*"]` for all. A GraphQL `document` chooses what is told of each change. `scopes` are those
    of the credential that created the endpoint. `maker_kind` is that credential's kind, `maker_id` the token
    or OAuth client, and `maker_user_id` the user who used it.
    The change log was looked through up to `position`. `failing_since` is the first failure since the last
    success, and `warned_at` when the owners were told.
    """

    __tablename__ = "webhook_endpoints"

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    url: str
    description: str | None = None
    kinds: list[str] = Field(sa_type=JsonColumn)
    scopes: list[str] = Field(sa_type=JsonColumn)
    document: str | None = None
    is_enabled: bool = True
    disabled_reason: str | None = None
    maker_kind: str
    maker_id: UUID | None = None
    maker_user_id: UUID | None = None
    position: int = Field(default=0, sa_type=BigInteger)
    failing_since: datetime | None = Field(default=None, sa_type=MomentColumn)
    warned_at: datetime | None = Field(default=None, sa_type=MomentColumn)


class WebhookSecretRow(TenantRow, table=True):
    """A secret of an endpoint, `sealed` and bound to its own `id`; one that was replaced has an end."""

    __tablename__ = "webhook_secrets"
    __table_args__ = (
        references("endpoint_id", "webhook_endpoints"),
        Index("ix_webhook_secrets_endpoint_id", "workspace_id", "endpoint_id"),
        Index("ix_webhook_secrets_ends_at", "ends_at"),
    )

    endpoint_id: UUID
    sealed: str
    ends_at: datetime | None = Field(default=None, sa_type=MomentColumn)
