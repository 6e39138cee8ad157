"""The `oauth_grants` and `oauth_consents` tables: what users allowed applications to do."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlmodel import Field

from storage.tables.base import DirectoryRow
from storage.types import JsonColumn, MomentColumn


class OAuthGrantRow(DirectoryRow, table=True):
    """One authorization: its code and all tokens issued from it refer to it and end with it.

    `ends_at` is when the last of them ends, or the moment of the revocation. `workspace_id` is null if the
    tokens act for the user. The exchange of the code needs the other columns:
    the request's `redirect_uri`, `code_challenge` (S256) and `nonce`, and when the user signed in.
    """

    __tablename__ = "oauth_grants"

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    revoked_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    ends_at: datetime | None = Field(default=None, index=True, sa_type=MomentColumn)
    oauth_client_id: UUID = Field(foreign_key="oauth_clients.id", index=True)
    user_id: UUID = Field(foreign_key="users.id", index=True)
    workspace_id: UUID | None = Field(default=None, foreign_key="workspaces.id", index=True)
    scopes: list[str] = Field(sa_type=JsonColumn)
    redirect_uri: str
    code_challenge: str | None = None
    nonce: str | None = None
    authenticated_at: datetime = Field(sa_type=MomentColumn)


class OAuthConsentRow(DirectoryRow, table=True):
    """What a user allowed a client permanently; `reach` is `user` or the id of a workspace."""

    __tablename__ = "oauth_consents"
    __table_args__ = (UniqueConstraint("user_id", "oauth_client_id", "reach"),)

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    oauth_client_id: UUID = Field(foreign_key="oauth_clients.id", index=True)
    user_id: UUID = Field(foreign_key="users.id")
    workspace_id: UUID | None = Field(default=None, foreign_key="workspaces.id", index=True)
    reach: str
    scopes: list[str] = Field(sa_type=JsonColumn)
