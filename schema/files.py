"""Files, as callers see them."""

from typing import Annotated

import strawberry
from pydantic import Field

from schema.base import Resource, graphql_type
from schema.fields import CreatedAt, WorkspaceId, is_absent
from schema.scalars import Long, Moment
from storage.enums import FileService

strawberry.enum(FileService)


@graphql_type
class File(Resource):
    """An uploaded object: what a share delivers, an image of a share, or a workspace's avatar."""

    workspace_id: WorkspaceId
    name: str
    path: Annotated[str, Field(description="The object's key in the store.")]
    mime_type: str
    size: Annotated[Long, Field(description="In bytes.")]
    storage_version: str | None
    checksum_etag: str | None
    checksum_sha256_base64: str | None
    checksum_sha256_hex: str | None
    last_modified_at: Moment | None
    version: str | None
    service: FileService
    is_uploaded: bool
    created_at: CreatedAt
    size_readable: Annotated[str, Field(description="The size for people, like `4.2 MB`.")]
    public_url: Annotated[
        str | None,
        Field(description="Where anyone can see an image of a share or an avatar.", exclude_if=is_absent),
    ] = None
