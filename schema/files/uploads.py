"""Uploads of files in parts, and downloads."""

from base64 import b64decode, b64encode
from typing import Annotated, NewType

import strawberry
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from schema.kit.base import Input, Output, graphql_input, graphql_type
from schema.values.scalars import HEADER_FIELDS, SCALARS, Int, Long, LongInt, Moment

MOST_PARTS = 10_000
SMALLEST_PART = 5 * 1024 * 1024
LARGEST_PART = 5 * 1024**3
_SHA256_BYTES = 32


def _check_checksum(value: str) -> str:
    try:
        digest = b64decode(value, validate=True)
    except ValueError:
        digest = b""
    if len(digest) != _SHA256_BYTES or b64encode(digest).decode() != value:
        raise PydanticCustomError("checksum", "Input should be a SHA-256 digest: 32 bytes in base64")
    return value


ChecksumInput = Annotated[
    str,
    Field(max_length=44, description="The SHA-256 in base64."),
    AfterValidator(_check_checksum),
]
PartNumber = Annotated[
    Int, Field(ge=1, le=MOST_PARTS, description="The number of the part, from 1 without gaps.")
]
ChunkStart = Annotated[Long, Field(description="The offset of the part's first byte in the file, from 0.")]
ChunkEnd = Annotated[Long, Field(description="The offset of the byte after the part's last byte.")]
HeaderFields = NewType("HeaderFields", dict[str, str])

SCALARS[HeaderFields] = strawberry.scalar(
    name="HeaderFields",
    description="HTTP headers: an object of names and values.",
    specified_by_url=HEADER_FIELDS,
    serialize=lambda value: value,
    parse_value=lambda value: value,
)


@graphql_type
class FileUploadPart(Output):
    """A part of an unfinished upload: PUT it to `url` with all `headers`, and keep the response's `ETag`.

    An uploaded part has a `checksum_etag` and no `url`; the others have a `url` that is valid for an hour.
    """

    number: PartNumber
    chunk_start: ChunkStart
    chunk_end: ChunkEnd
    checksum_sha256_base64: Annotated[
        str | None, Field(description="The declared SHA-256 in base64, if any.")
    ]
    checksum_etag: Annotated[
        str | None, Field(description="The `ETag` of the part; null until it is uploaded.")
    ]
    url: Annotated[str | None, Field(description="The URL to PUT the part to; null once it is uploaded.")]
    headers: Annotated[
        HeaderFields | None, Field(description="The headers of the PUT request; null once it is uploaded.")
    ]
    expires_at: Annotated[Moment | None, Field(description="The time of expiry of the `url`.")]


@graphql_type
class FileUpload(Output):
    """An unfinished upload. Reading the file again gives new URLs."""

    id: Annotated[str, Field(description="The upload's id, needed to complete it; not a UUID.")]
    path: Annotated[str, Field(description="The file's path, needed to complete the upload.")]
    parts: list[FileUploadPart]


@graphql_input
class FilePartCreate(Input):
    """A part of the upload: the bytes from `chunk_start` to before `chunk_end`."""

    number: PartNumber
    chunk_start: Annotated[
        LongInt, Field(ge=0, description="The offset of the part's first byte in the file, from 0.")
    ]
    chunk_end: Annotated[
        LongInt, Field(ge=1, description="The offset of the byte after the part's last byte.")
    ]
    checksum_sha256_base64: Annotated[
        ChecksumInput | None,
        Field(
            description="The SHA-256 in base64, verified when the part is uploaded; for all parts or none."
        ),
    ] = None


@graphql_input
class FileUploadCreate(Input):
    """The parts of the upload, which together are the file; all but the last have at least 5 MiB."""

    parts: Annotated[list[FilePartCreate], Field(min_length=1, max_length=MOST_PARTS)]


@graphql_input
class CompletedPart(Input):
    """An uploaded part, and the `ETag` of the response."""

    number: PartNumber
    checksum_etag: Annotated[
        str,
        Field(min_length=1, max_length=128, description="The `ETag` of the part, with or without quotes."),
    ]
    checksum_sha256_base64: Annotated[
        ChecksumInput | None, Field(description="The SHA-256 in base64; null if none was computed.")
    ]


@graphql_input
class FileUploadCompletion(Input):
    """The completion of an upload, with all its parts."""

    id: Annotated[str, Field(min_length=1, max_length=2048, description="The `id` of the file's upload.")]
    path: Annotated[str, Field(min_length=1, max_length=2048, description="The `path` of the file.")]
    parts: Annotated[list[CompletedPart], Field(min_length=1, max_length=MOST_PARTS)]


@graphql_type
class FileDownload(Output):
    """A URL that gives access to the file until it expires, to everyone who has the URL."""

    url: str
    headers: Annotated[HeaderFields, Field(description="The headers of the GET request.")]
    expires_at: Moment
