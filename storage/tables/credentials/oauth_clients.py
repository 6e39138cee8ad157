"""The `oauth_clients` table: applications that users can connect."""

from datetime import datetime
from uuid import UUID

from sqlmodel import Field

from storage.enums import DocumentMode
from storage.tables.base import DirectoryRow
from storage.types import CodePointText, JsonColumn, MomentColumn


class OAuthClientRow(DirectoryRow, table=True):
    """Owned by a workspace or a user; clients of an operator or of open registration have no owner.

    `maker_user_id` is the user who created it, null if unknown. `token_endpoint_auth_method` is that of
    RFC 7591, `none` for a public client. Secrets are credentials. `documents_version` changes whenever the
    client's registered documents do.
    """

    __tablename__ = "oauth_clients"

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    deleted_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    client_id: str = Field(sa_type=CodePointText, unique=True)
    workspace_id: UUID | None = Field(default=None, foreign_key="workspaces.id", index=True)
    user_id: UUID | None = Field(default=None, foreign_key="users.id", index=True)
    maker_user_id: UUID | None = Field(default=None, foreign_key="users.id")
    name: str
    redirect_uris: list[str] = Field(sa_type=JsonColumn)
    scopes: list[str] = Field(sa_type=JsonColumn)
    token_endpoint_auth_method: str
    client_uri: str | None = None
    policy_uri: str | None = None
    tos_uri: str | None = None
    document_mode: str = DocumentMode.OFF
    documents_version: int = 0
