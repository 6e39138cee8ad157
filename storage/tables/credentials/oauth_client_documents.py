"""The `oauth_client_documents` table: the GraphQL documents of OAuth clients."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, Index
from sqlmodel import Field

from storage.tables.base import DirectoryRow
from storage.types import JsonColumn, MomentColumn


class OAuthClientDocumentRow(DirectoryRow, table=True):
    """A document that a client registered, or one that it sent without having registered it.

    `hash` is the SHA-256 of the text. Of a document that is not registered nothing else is kept that the
    client chose: `text` and `name` are null, and `root_fields` are names of the schema.
    """

    __tablename__ = "oauth_client_documents"
    __table_args__ = (
        Index("ix_oauth_client_documents_hash", "oauth_client_id", "hash", unique=True),
        Index("ix_oauth_client_documents_last_used_at", "is_registered", "last_used_at"),
    )

    oauth_client_id: UUID = Field(foreign_key="oauth_clients.id")
    hash: str
    is_registered: bool
    name: str | None = None
    text: str | None = None
    root_fields: list[str] | None = Field(default=None, sa_type=JsonColumn)
    requests: int = Field(default=0, sa_type=BigInteger)
    last_used_at: datetime | None = Field(default=None, sa_type=MomentColumn)
