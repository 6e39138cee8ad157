"""The `oauth_grants` and `oauth_consents` tables: what users allowed applications."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlmodel import Field

from storage.tables.base import DirectoryRow
from storage.types import JsonColumn, MomentColumn


class OAuthGrantRow(DirectoryRow, table=True):
    """One authorization: the code that it gave and every token that came of it point here, and end with it.

    `workspace_id` is null where the tokens are the user's. What the request said and the exchange of the
    code needs is kept beside: `redirect_uri`, `code_challenge` (S256), `nonce`, and when the user signed in.
    """

    __tablename__ = "oauth_grants"

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    revoked_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    oauth_client_id: UUID = Field(foreign_key="oauth_clients.id", index=True)
    user_id: UUID = Field(foreign_key="users.id", index=True)
    workspace_id: UUID | None = Field(default=None, foreign_key="workspaces.id", index=True)
    scopes: list[str] = Field(sa_type=JsonColumn)
    redirect_uri: str
    code_challenge: str | None = None
    nonce: str | None = None
    authenticated_at: datetime = Field(sa_type=MomentColumn)


class OAuthConsentRow(DirectoryRow, table=True):
    """What a user allowed a client for good; `reach` is `user`, or the id of the workspace."""

    __tablename__ = "oauth_consents"
    __table_args__ = (UniqueConstraint("user_id", "oauth_client_id", "reach"),)

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    oauth_client_id: UUID = Field(foreign_key="oauth_clients.id", index=True)
    user_id: UUID = Field(foreign_key="users.id")
    workspace_id: UUID | None = Field(default=None, foreign_key="workspaces.id", index=True)
    reach: str
    scopes: list[str] = Field(sa_type=JsonColumn)
