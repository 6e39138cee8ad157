"""Files: uploaded content of shares, images of shares and avatars of workspaces."""

from typing import Annotated, ClassVar

import strawberry
from pydantic import Field

from schema.files.uploads import ChecksumInput, FileUpload, FileUploadCreate
from schema.kit.base import Input, Resource, graphql_input, graphql_type
from schema.kit.fields import CreatedAt, WorkspaceId, WorkspaceIdFilter, WorkspaceIdInput, is_absent
from schema.kit.pages import ChangesQuery
from schema.kit.sorting import Sorting
from schema.values.scalars import Id, Moment
from schema.values.units import Size, SizeInput
from storage.enums import FileService

strawberry.enum(FileService)

Service = Annotated[FileService, Field(description="The purpose of the file.")]


@graphql_type
class File(Resource):
    """An uploaded file: content of a share, an image of a share, or a workspace's avatar."""

    unhashed: ClassVar[frozenset[str]] = frozenset({"upload"})

    workspace_id: WorkspaceId
    name: str
    path: Annotated[str, Field(description="The key of the file in the object store.")]
    mime_type: str
    size: Annotated[Size, Field(description="The size in bytes.")]
    storage_version: str | None
    checksum_etag: str | None
    checksum_sha256_base64: Annotated[
        str | None,
        Field(
            description="The SHA-256 in base64: verified for a file of one part, else the uploader's value."
        ),
    ]
    checksum_sha256_hex: str | None
    last_modified_at: Annotated[Moment | None, Field(description="The time of the upload's completion.")]
    version: str | None
    service: Service
    is_uploaded: bool
    created_at: CreatedAt
    size_readable: Annotated[str, Field(description="The size as text, like `4.2 MB`.")]
    public_url: Annotated[
        str | None,
        Field(description="The public URL of an image of a share or of an avatar.", exclude_if=is_absent),
    ] = None
    upload: Annotated[
        FileUpload | None,
        Field(
            description="The state of an unfinished upload; only in answers with a single file.",
            exclude_if=is_absent,
        ),
    ] = None


@graphql_input
class FileCreate(Input):
    """A new file, and the parts of its upload."""

    service: Service
    name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=255,
            description="The file name. Path separators, `..` and control characters are removed.",
        ),
    ]
    mime_type: Annotated[
        str,
        Field(
            max_length=127,
            pattern=r"^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*$",
            description="The media type as `type/subtype`, without parameters; an image type for "
            "`product_media` and `workspace_avatar`.",
        ),
    ]
    size: Annotated[SizeInput, Field(ge=1, description="The size in bytes.")]
    checksum_sha256_base64: Annotated[
        ChecksumInput | None, Field(description="The SHA-256 of the whole file, in base64.")
    ] = None
    version: Annotated[
        str | None, Field(max_length=256, description="A version label of the uploader's choice.")
    ] = None
    workspace_id: WorkspaceIdInput = None
    upload: FileUploadCreate


class FileSorting(Sorting, keys=("created_at", "modified_at", "name", "size")): ...


class FileQuery(ChangesQuery):
    """The arguments of the list of files."""

    workspace_id: WorkspaceIdFilter = None
    ids: Annotated[list[Id] | None, Field(max_length=100, description="Only the files with these ids.")] = (
        None
    )
    service: Annotated[FileService | None, Field(description="Only files with this purpose.")] = None
    name: Annotated[
        str | None,
        Field(max_length=255, description="Only files whose name contains this text, ignoring case."),
    ] = None
    sorting: Annotated[
        list[FileSorting] | None,
        Field(max_length=8, description="The sort keys in order; the default is `-created_at`."),
    ] = None
