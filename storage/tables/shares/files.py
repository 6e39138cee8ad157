"""The tables of files: their parts, the storage used by workspaces, and discarded objects."""

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from sqlalchemy import BigInteger, Index, text
from sqlmodel import Field, SQLModel

from storage.enums import DeletedResource
from storage.tables.base import ChangedRow, Counted, TenantRow, references
from storage.types import CodePointText, JsonColumn, MomentColumn

UNFINISHED = text("NOT is_uploaded")


class FileRow(ChangedRow, TenantRow, table=True):
    """A file; `path` is its object's key in the store, `upload_id` the store's id of its upload."""

    __tablename__ = "files"
    __table_args__ = (
        Index("ix_files_created_at", "workspace_id", "created_at", "id"),
        Index("ix_files_name", "workspace_id", "name_folded", "id"),
        Index("ix_files_size", "workspace_id", "size", "id"),
        Index("ix_files_unfinished", "created_at", sqlite_where=UNFINISHED, postgresql_where=UNFINISHED),
        Index("ix_files_changed_at", "workspace_id", "changed_at", "id"),
    )
    folded: ClassVar[dict[str, str]] = {"name_folded": "name"}
    counted: ClassVar[Counted] = ((), ("service",))
    tombstone: ClassVar[DeletedResource | None] = DeletedResource.FILE

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    name: str
    name_folded: str = Field(sa_type=CodePointText)
    path: str
    mime_type: str
    size: int = Field(sa_type=BigInteger)
    service: str
    version: str | None = None
    is_uploaded: bool = False
    upload_id: str
    storage_version: str | None = None
    checksum_etag: str | None = None
    checksum_sha256_base64: str | None = None
    checksum_sha256_hex: str | None = None
    last_modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)


class FilePartRow(SQLModel, table=True):
    """A part as declared: the bytes from `chunk_start` to `chunk_end`, exclusive."""

    __tablename__ = "file_parts"
    __table_args__ = (references("file_id", "files", ondelete="CASCADE"),)

    workspace_id: UUID = Field(primary_key=True)
    file_id: UUID = Field(primary_key=True)
    number: int = Field(primary_key=True)
    chunk_start: int = Field(sa_type=BigInteger)
    chunk_end: int = Field(sa_type=BigInteger)
    checksum_sha256_base64: str | None = None


class StorageUsageRow(SQLModel, table=True):
    """The bytes that a workspace's files have or declare, and its own quotas, where 0 means no limit.

    `row_quotas` are those of rows and of their bytes, by kind; see `storage/totals/kinds.py`.
    """

    __tablename__ = "storage_usage"

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
    stored_bytes: int = Field(default=0, sa_type=BigInteger)
    open_uploads: int = 0
    storage_quota: int | None = Field(default=None, sa_type=BigInteger)
    open_upload_quota: int | None = None
    row_quotas: dict[str, int] | None = Field(default=None, sa_type=JsonColumn)


class DiscardedObjectRow(TenantRow, table=True):
    """A deleted file's content, until it is certainly removed from the store; `id` is the file's."""

    __tablename__ = "discarded_objects"
    __table_args__ = (Index("ix_discarded_objects_created_at", "created_at"),)

    path: str
    upload_id: str
