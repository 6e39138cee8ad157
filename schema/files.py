"""Files, as callers see them."""

from typing import Annotated, ClassVar

import strawberry
from pydantic import Field

from schema.base import Input, Resource, graphql_input, graphql_type
from schema.fields import CreatedAt, WorkspaceId, WorkspaceIdFilter, WorkspaceIdInput, is_absent
from schema.pages import ListQuery
from schema.scalars import Id, Long, LongInt, Moment
from schema.sorting import Sorting
from schema.uploads import ChecksumInput, FileUpload, FileUploadCreate
from storage.enums import FileService

strawberry.enum(FileService)

Service = Annotated[FileService, Field(description="What the file is for.")]


@graphql_type
class File(Resource):
    """An uploaded object: what a share delivers, an image of a share, or a workspace's avatar."""

    unhashed: ClassVar[frozenset[str]] = frozenset({"upload"})

    workspace_id: WorkspaceId
    name: str
    path: Annotated[str, Field(description="The object's key in the store.")]
    mime_type: str
    size: Annotated[Long, Field(description="In bytes.")]
    storage_version: str | None
    checksum_etag: str | None
    checksum_sha256_base64: Annotated[
        str | None, Field(description="Checked for a file of one part; else what its uploader stated.")
    ]
    checksum_sha256_hex: str | None
    last_modified_at: Annotated[Moment | None, Field(description="When the upload was completed.")]
    version: str | None
    service: Service
    is_uploaded: bool
    created_at: CreatedAt
    size_readable: Annotated[str, Field(description="The size for people, like `4.2 MB`.")]
    public_url: Annotated[
        str | None,
        Field(description="Where anyone can see an image of a share or an avatar.", exclude_if=is_absent),
    ] = None
    upload: Annotated[
        FileUpload | None,
        Field(
            description="What is left to do; only where a single unfinished file is made or read.",
            exclude_if=is_absent,
        ),
    ] = None


@graphql_input
class FileCreate(Input):
    """A new file and the parts in which it will be sent."""

    service: Service
    name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=255,
            description="Path separators, `..` and control characters are taken out.",
        ),
    ]
    mime_type: Annotated[
        str,
        Field(
            max_length=127,
            pattern=r"^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*$",
            description="`type/subtype` without parameters; an image for `product_media` and "
            "`workspace_avatar`.",
        ),
    ]
    size: Annotated[LongInt, Field(ge=1, description="In bytes.")]
    checksum_sha256_base64: Annotated[
        ChecksumInput | None, Field(description="SHA-256 of the whole file in base64.")
    ] = None
    version: Annotated[str | None, Field(max_length=256, description="The uploader's own mark.")] = None
    workspace_id: WorkspaceIdInput = None
    upload: FileUploadCreate


class FileSorting(Sorting, keys=("created_at", "name", "size")): ...


class FileQuery(ListQuery):
    """The filters of a list of files."""

    workspace_id: WorkspaceIdFilter = None
    ids: Annotated[list[Id] | None, Field(max_length=100, description="Only these files.")] = None
    service: Annotated[FileService | None, Field(description="Only files for this.")] = None
    name: Annotated[str | None, Field(max_length=255, description="A part of the name, in any case.")] = None
    sorting: Annotated[
        list[FileSorting] | None, Field(max_length=6, description="The default is `-created_at`.")
    ] = None
