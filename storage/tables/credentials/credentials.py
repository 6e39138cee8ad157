"""The `credentials` table: tokens, secrets, authorization codes and browser sessions."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import Index, text
from sqlmodel import Field

from storage.tables.base import TimestampedRow
from storage.types import JsonColumn, MomentColumn

_EXPIRES, _IS_REVOKED = text("expires_at IS NOT NULL"), text("revoked_at IS NOT NULL")


class CredentialRow(TimestampedRow, table=True):
    """A credential. Its key is the SHA-256 of its text: it is looked up before its workspace is known.

    For browser sessions, `user_agent` and `address` are those of the sign-in, and `authenticated_at` is when
    the user last proved their identity. `authorization_digest` identifies the authorization request that the
    sign-in was for, until that request is answered.
    """

    __tablename__ = "credentials"
    __table_args__ = (
        Index("ix_credentials_workspace", "workspace_id", "kind", "created_at"),
        Index("ix_credentials_user", "user_id", "kind", "created_at"),
        # What has ended is found by these.
        Index(
            "ix_credentials_expires_at",
            "kind",
            "expires_at",
            sqlite_where=_EXPIRES,
            postgresql_where=_EXPIRES,
        ),
        Index(
            "ix_credentials_revoked_at",
            "kind",
            "revoked_at",
            sqlite_where=_IS_REVOKED,
            postgresql_where=_IS_REVOKED,
        ),
    )

    hash: str = Field(primary_key=True)
    id: UUID = Field(default_factory=uuid4, unique=True)
    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    kind: str
    workspace_id: UUID | None = Field(default=None, foreign_key="workspaces.id")
    user_id: UUID | None = Field(default=None, foreign_key="users.id")
    maker_user_id: UUID | None = Field(default=None, foreign_key="users.id")
    customer_id: UUID | None = Field(default=None, index=True)
    member_id: UUID | None = None
    oauth_client_id: UUID | None = Field(default=None, foreign_key="oauth_clients.id", index=True)
    grant_id: UUID | None = Field(default=None, foreign_key="oauth_grants.id", index=True)
    scopes: list[str] = Field(sa_type=JsonColumn)
    comment: str = ""
    expires_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    revoked_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    last_used_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    user_agent: str | None = None
    address: str | None = None
    authenticated_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    authorization_digest: str | None = None
