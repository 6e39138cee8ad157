"""The `shares` table, and the tables of what a share embeds: prices, media, downloads and custom fields."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import Column, ForeignKeyConstraint, Index
from sqlmodel import Field, SQLModel

from storage.enums import Visibility
from storage.tables.base import ChangedRow, Counted, TenantRow, references
from storage.types import CodePointText, JsonColumn, MomentColumn


class ShareRow(ChangedRow, TenantRow, table=True):
    """A share; `price_amount`, a sort key, is the amount of its fixed price, 0 if it is free."""

    __tablename__ = "shares"
    __table_args__ = (
        Index("ix_shares_created_at", "workspace_id", "created_at", "id"),
        Index("ix_shares_name", "workspace_id", "name_folded", "id"),
        Index("ix_shares_price_amount", "workspace_id", "price_amount", "id"),
        Index("ix_shares_changed_at", "workspace_id", "changed_at", "id"),
    )
    folded: ClassVar[dict[str, str]] = {"name_folded": "name"}
    counted: ClassVar[Counted] = ((), ("is_archived",), ("visibility",), ("visibility", "is_archived"))
    measured: ClassVar[tuple[str, ...]] = ("description", "metadata")

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    name: str
    name_folded: str = Field(sa_type=CodePointText)
    description: str | None = None
    visibility: str = Visibility.PUBLIC.value
    is_archived: bool = False
    price_amount: int | None = None
    custom_metadata: dict[str, Any] = Field(
        default_factory=dict, sa_column=Column("metadata", JsonColumn, nullable=False)
    )


class SharePriceRow(TenantRow, table=True):
    """A price. It never changes: a removed price is archived. Amounts are minor units."""

    __tablename__ = "share_prices"
    __table_args__ = (
        references("share_id", "shares"),
        Index("ix_share_prices_share", "workspace_id", "share_id"),
    )

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    share_id: UUID
    amount_type: str
    is_archived: bool = False
    price_amount: int | None = None
    price_currency: str | None = None
    minimum_amount: int | None = None
    maximum_amount: int | None = None
    preset_amount: int | None = None


def _listed_file_constraints(index: str) -> tuple[ForeignKeyConstraint | Index, ...]:
    return (
        references("share_id", "shares"),
        references("file_id", "files", ondelete="CASCADE"),
        Index(index, "workspace_id", "file_id"),
    )


class ShareFileRow(SQLModel):
    """A file that a share lists; `position` is its index, from 0, in the caller's list."""

    workspace_id: UUID = Field(primary_key=True)
    share_id: UUID = Field(primary_key=True)
    file_id: UUID = Field(primary_key=True)
    position: int


class ShareMediaRow(ShareFileRow, table=True):
    """A file shown with a share."""

    __tablename__ = "share_medias"
    __table_args__ = _listed_file_constraints("ix_share_medias_file")


class ShareDownloadRow(ShareFileRow, table=True):
    """A file that customers of the share download."""

    __tablename__ = "share_downloads"
    __table_args__ = _listed_file_constraints("ix_share_downloads_file")


class ShareCustomFieldRow(SQLModel, table=True):
    __tablename__ = "share_custom_fields"
    __table_args__ = (
        references("share_id", "shares"),
        references("custom_field_id", "custom_fields", ondelete="CASCADE"),
        Index("ix_share_custom_fields_custom_field", "workspace_id", "custom_field_id"),
    )

    workspace_id: UUID = Field(primary_key=True)
    share_id: UUID = Field(primary_key=True)
    custom_field_id: UUID = Field(primary_key=True)
    position: int
    required: bool
