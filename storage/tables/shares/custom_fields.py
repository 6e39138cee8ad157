"""The `custom_fields` table."""

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import Column, Index, UniqueConstraint
from sqlmodel import Field

from storage.enums import DeletedResource
from storage.tables.base import ChangedRow, Counted, TenantRow
from storage.types import CodePointText, JsonColumn, MomentColumn


class CustomFieldRow(ChangedRow, TenantRow, table=True):
    __tablename__ = "custom_fields"
    __table_args__ = (
        UniqueConstraint("workspace_id", "slug"),
        Index("ix_custom_fields_changed_at", "workspace_id", "changed_at", "id"),
    )
    unique: ClassVar[dict[str, str]] = {"slug": "slug"}
    counted: ClassVar[Counted] = ((),)
    measured: ClassVar[tuple[str, ...]] = ("metadata", "properties")
    tombstone: ClassVar[DeletedResource | None] = DeletedResource.CUSTOM_FIELD

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    type: str
    slug: str = Field(sa_type=CodePointText)
    name: str
    custom_metadata: dict[str, Any] = Field(
        default_factory=dict, sa_column=Column("metadata", JsonColumn, nullable=False)
    )
    properties: dict[str, Any] = Field(default_factory=dict, sa_type=JsonColumn)
