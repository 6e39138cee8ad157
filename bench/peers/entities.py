"""The gateway's tables as SQLModel entities with relationships, as the guides of SQLModel declare them."""

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Column, DateTime, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, Relationship, SQLModel

Moment = DateTime(timezone=True)


class JsonText(TypeDecorator[Any]):
    """JSON in a column of text."""

    impl = Text
    cache_ok = True

    def process_result_value(self, value: str | None, _dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)


class Credential(SQLModel, table=True):
    __tablename__ = "credentials"

    hash: str = Field(primary_key=True)
    workspace_id: UUID | None
    scopes: list[str] = Field(sa_type=JsonText)
    expires_at: datetime | None = Field(sa_type=Moment)
    revoked_at: datetime | None = Field(sa_type=Moment)


class Resource(SQLModel):
    """What the rows of a workspace have in common."""

    workspace_id: UUID = Field(primary_key=True)
    id: UUID = Field(primary_key=True)
    created_at: datetime = Field(sa_type=Moment)


class Price(Resource, table=True):
    __tablename__ = "share_prices"

    modified_at: datetime | None = Field(sa_type=Moment)
    share_id: UUID
    amount_type: str
    is_archived: bool
    price_amount: int | None
    price_currency: str | None
    minimum_amount: int | None
    maximum_amount: int | None
    preset_amount: int | None


class ListedFile(SQLModel):
    """What the two tables that list a share's files have in common."""

    workspace_id: UUID = Field(primary_key=True)
    share_id: UUID = Field(primary_key=True)
    file_id: UUID = Field(primary_key=True)
    position: int


class Media(ListedFile, table=True):
    __tablename__ = "share_medias"


class Download(ListedFile, table=True):
    __tablename__ = "share_downloads"


class File(Resource, table=True):
    __tablename__ = "files"

    last_modified_at: datetime | None = Field(sa_type=Moment)
    name: str
    path: str
    mime_type: str
    size: int = Field(sa_type=BigInteger)
    service: str
    version: str | None
    is_uploaded: bool
    storage_version: str | None
    checksum_etag: str | None
    checksum_sha256_base64: str | None
    checksum_sha256_hex: str | None


class CustomField(Resource, table=True):
    __tablename__ = "custom_fields"

    modified_at: datetime | None = Field(sa_type=Moment)
    type: str
    slug: str
    name: str
    pairs: dict[str, Any] = Field(sa_column=Column("metadata", JsonText))
    properties: dict[str, Any] = Field(sa_type=JsonText)


def _to(own: str, key: str, other: str, other_key: str, where: str = "", **options: Any) -> Any:
    """A relationship within a workspace, which the tables' composite keys do not let SQLModel infer."""
    same = f"{own}.workspace_id == foreign({other}.workspace_id)"
    return Relationship(
        sa_relationship_kwargs={
            "primaryjoin": f"and_({same}, {own}.{key} == foreign({other}.{other_key}){where})",
            "viewonly": True,
            **options,
        }
    )


def _files_by(listing: str, table: str) -> Any:
    """The files that a table lists for a share, in its order."""
    share = f"Share.workspace_id == {listing}.workspace_id, Share.id == {listing}.share_id"
    file = f"{listing}.workspace_id == File.workspace_id, {listing}.file_id == File.id"
    return Relationship(
        sa_relationship_kwargs={
            "secondary": table,
            "primaryjoin": f"and_({share})",
            "secondaryjoin": f"and_({file})",
            "order_by": f"{listing}.position",
            "viewonly": True,
        }
    )


class Attachment(SQLModel, table=True):
    __tablename__ = "share_custom_fields"

    workspace_id: UUID = Field(primary_key=True)
    share_id: UUID = Field(primary_key=True)
    custom_field_id: UUID = Field(primary_key=True)
    position: int
    required: bool
    custom_field: CustomField = _to("Attachment", "custom_field_id", "CustomField", "id", uselist=False)


class Share(Resource, table=True):
    __tablename__ = "shares"

    modified_at: datetime | None = Field(sa_type=Moment)
    name: str
    description: str | None
    visibility: str
    is_archived: bool
    pairs: dict[str, Any] = Field(sa_column=Column("metadata", JsonText))
    prices: list[Price] = _to(
        "Share",
        "id",
        "Price",
        "share_id",
        where=", Price.is_archived == False",
        order_by="Price.created_at, Price.id",
    )
    medias: list[File] = _files_by("Media", "share_medias")
    downloads: list[File] = _files_by("Download", "share_downloads")
    attachments: list[Attachment] = _to(
        "Share", "id", "Attachment", "share_id", order_by="Attachment.position"
    )
