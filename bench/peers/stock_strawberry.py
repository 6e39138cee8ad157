"""A peer: GraphQL by stock Strawberry over the gateway's SQLModel entities, with relationships added to them.

It answers the same document as the gateway, looks the token up too, and keeps parsed and validated documents
by Strawberry's own extensions.

    DATABASE=postgresql+asyncpg://... uvicorn bench.peers.stock_strawberry:app --loop uvloop --http httptools
"""

import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

import strawberry
from fastapi import Depends, FastAPI, HTTPException, Request
from sqlalchemy import and_, inspect
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import relationship, selectinload
from sqlmodel import func, select
from strawberry.extensions import ParserCache, ValidationCache
from strawberry.fastapi import GraphQLRouter
from strawberry.scalars import JSON

from storage.tables import registry as _all_tables  # noqa: F401
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.shares.custom_fields import CustomFieldRow
from storage.tables.shares.files import FileRow
from storage.tables.shares.shares import (
    ShareCustomFieldRow,
    ShareDownloadRow,
    ShareMediaRow,
    SharePriceRow,
    ShareRow,
)

# SQLModel does not type columns and relationships as what SQLAlchemy takes.
shares: Any = ShareRow
prices: Any = SharePriceRow
lists: tuple[Any, ...] = (ShareMediaRow, ShareDownloadRow, ShareCustomFieldRow)
medias, downloads, attached = (each.__table__ for each in lists)
of_share = and_(shares.workspace_id == prices.workspace_id, shares.id == prices.share_id, ~prices.is_archived)
RELATIONSHIPS = {
    "prices": relationship(
        prices, primaryjoin=of_share, order_by=(prices.created_at, prices.id), viewonly=True
    ),
    "medias": relationship(FileRow, secondary=medias, order_by=medias.c.position, viewonly=True),
    "downloads": relationship(FileRow, secondary=downloads, order_by=downloads.c.position, viewonly=True),
    "attachments": relationship(ShareCustomFieldRow, order_by=attached.c.position, viewonly=True),
}
for name, listed in RELATIONSHIPS.items():
    inspect(ShareRow).add_property(name, listed)
inspect(ShareCustomFieldRow).add_property("custom_field", relationship(CustomFieldRow, viewonly=True))

engine = create_async_engine(os.environ["DATABASE"], pool_size=20, max_overflow=0)
make_session = async_sessionmaker(engine, expire_on_commit=False)


def metadata_of(root: Any) -> JSON:
    return JSON(root.custom_metadata)


@strawberry.type
class Price:
    id: UUID
    created_at: datetime
    modified_at: datetime | None
    amount_type: str
    is_archived: bool
    share_id: UUID
    price_amount: int | None
    price_currency: str | None
    minimum_amount: int | None
    maximum_amount: int | None
    preset_amount: int | None


@strawberry.type
class File:
    id: UUID
    workspace_id: UUID
    name: str
    path: str
    mime_type: str
    size: int
    storage_version: str | None
    checksum_etag: str | None
    checksum_sha256_base64: str | None
    checksum_sha256_hex: str | None
    last_modified_at: datetime | None
    version: str | None
    service: str
    is_uploaded: bool
    created_at: datetime

    @strawberry.field
    def size_readable(self) -> str:
        return f"{self.size} B"

    @strawberry.field
    def public_url(self) -> str | None:
        return f"/{self.path}"


@strawberry.type
class SelectOption:
    value: str
    label: str


@strawberry.type
class CustomFieldProperties:
    form_label: str | None = None
    form_help_text: str | None = None
    form_placeholder: str | None = None
    textarea: bool | None = None
    min_length: int | None = None
    max_length: int | None = None
    options: list[SelectOption] | None = None


def properties_of(root: Any) -> CustomFieldProperties:
    given = dict(root.properties)
    options = given.pop("options", None)
    made = [SelectOption(**option) for option in options] if options is not None else None
    return CustomFieldProperties(**given, options=made)


@strawberry.type
class CustomField:
    id: UUID
    created_at: datetime
    modified_at: datetime | None
    type: str
    slug: str
    name: str
    workspace_id: UUID
    metadata: JSON = strawberry.field(resolver=metadata_of)
    properties: CustomFieldProperties = strawberry.field(resolver=properties_of)


def order_of(root: Any) -> int:
    position: int = root.position
    return position


@strawberry.type
class AttachedCustomField:
    custom_field_id: UUID
    custom_field: CustomField
    required: bool
    order: int = strawberry.field(resolver=order_of)


def attachments_of(root: Any) -> list[AttachedCustomField]:
    attachments: list[AttachedCustomField] = root.attachments
    return attachments


@strawberry.type
class Share:
    id: UUID
    created_at: datetime
    modified_at: datetime | None
    name: str
    description: str | None
    visibility: str
    is_archived: bool
    workspace_id: UUID
    prices: list[Price]
    medias: list[File]
    downloads: list[File]
    metadata: JSON = strawberry.field(resolver=metadata_of)
    attached_custom_fields: list[AttachedCustomField] = strawberry.field(resolver=attachments_of)


@strawberry.type
class PageMeta:
    total: int
    page: int
    per_page: int
    pages: int
    next_cursor: str | None


@strawberry.type
class Pagination:
    total_count: int
    max_page: int


@strawberry.type
class SharePage:
    data: list[Share]
    meta: PageMeta
    pagination: Pagination


@strawberry.type
class Query:
    @strawberry.field
    async def shares(self, info: strawberry.Info, limit: int = 10) -> SharePage:
        session, workspace_id = info.context["session"], info.context["workspace_id"]
        attachment: Any = ShareCustomFieldRow
        own = shares.workspace_id == workspace_id
        nested = map(selectinload, (shares.prices, shares.medias, shares.downloads))
        attachments = selectinload(shares.attachments).selectinload(attachment.custom_field)
        statement = (
            select(shares)
            .where(own)
            .order_by(shares.created_at.desc(), shares.id.desc())
            .limit(limit)
            .options(*nested, attachments)
        )
        rows = list((await session.scalars(statement)).all())
        total = (await session.scalars(select(func.count()).select_from(shares).where(own))).one()
        pages = -(-total // limit)
        cursor = f"{rows[-1].created_at.isoformat()} {rows[-1].id}" if total > limit else None
        meta = PageMeta(total=total, page=1, per_page=limit, pages=pages, next_cursor=cursor)
        return SharePage(data=rows, meta=meta, pagination=Pagination(total_count=total, max_page=pages))


async def open_session() -> AsyncIterator[AsyncSession]:
    async with make_session() as session:
        yield session


async def context_of(request: Request, session: AsyncSession = Depends(open_session)) -> dict[str, Any]:  # noqa: B008
    """The session and the workspace of a live token with the scope."""
    token = request.headers.get("authorization", "").removeprefix("Bearer ")
    credential = await session.get(CredentialRow, sha256(token.encode()).hexdigest())
    if (
        credential is None
        or credential.revoked_at is not None
        or (credential.expires_at is not None and credential.expires_at <= datetime.now(UTC))
        or "shares:read" not in credential.scopes
    ):
        raise HTTPException(401)
    return {"session": session, "workspace_id": credential.workspace_id}


schema = strawberry.Schema(Query, extensions=[ParserCache, ValidationCache])
app = FastAPI()
app.include_router(GraphQLRouter(schema, context_getter=context_of), prefix="/graphql")
