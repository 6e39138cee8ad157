"""Uploads, as callers see them: the parts of a file, where to put them and what came of it."""

from base64 import b64decode, b64encode
from typing import Annotated, NewType

import strawberry
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from schema.base import Input, Output, graphql_input, graphql_type
from schema.scalars import SCALARS, Int, Long, LongInt, Moment

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
        raise PydanticCustomError("checksum", "Input should be a SHA-256: 32 bytes in base64")
    return value


ChecksumInput = Annotated[
    str,
    Field(max_length=44, description="SHA-256 in base64."),
    AfterValidator(_check_checksum),
]
PartNumber = Annotated[Int, Field(ge=1, le=MOST_PARTS, description="From 1, without gaps.")]
ChunkStart = Annotated[Long, Field(description="The part's first byte in the file, from 0.")]
ChunkEnd = Annotated[Long, Field(description="The byte after the part's last one.")]
HeaderFields = NewType("HeaderFields", dict[str, str])

SCALARS[HeaderFields] = strawberry.scalar(
    name="HeaderFields",
    description="An object of HTTP header fields: names and values.",
    serialize=lambda value: value,
    parse_value=lambda value: value,
)


@graphql_type
class FileUploadPart(Output):
    """A part of an unfinished upload: PUT it to `url` with all of `headers`, and keep the `ETag` answered.

    A part that has arrived has its `checksum_etag` and no `url`; the others have a `url` for an hour.
    """

    number: PartNumber
    chunk_start: ChunkStart
    chunk_end: ChunkEnd
    checksum_sha256_base64: Annotated[
        str | None, Field(description="The SHA-256 that it was declared with, if any.")
    ]
    checksum_etag: Annotated[str | None, Field(description="Null until the part has arrived.")]
    url: Annotated[str | None, Field(description="Where to PUT it; null once it has arrived.")]
    headers: Annotated[
        HeaderFields | None, Field(description="To be sent with the PUT; null once it has arrived.")
    ]
    expires_at: Annotated[Moment | None, Field(description="Until when the `url` is good.")]


@graphql_type
class FileUpload(Output):
    """The upload of a file that is not finished; read the file again for new addresses."""

    id: Annotated[str, Field(description="Send it back at completion; not a UUID.")]
    path: Annotated[str, Field(description="The file's path; send it back at completion.")]
    parts: list[FileUploadPart]


@graphql_input
class FilePartCreate(Input):
    """A part as it will be sent: bytes `chunk_start` up to, not including, `chunk_end`."""

    number: PartNumber
    chunk_start: Annotated[LongInt, Field(ge=0, description="The part's first byte in the file, from 0.")]
    chunk_end: Annotated[LongInt, Field(ge=1, description="The byte after the part's last one.")]
    checksum_sha256_base64: Annotated[
        ChecksumInput | None,
        Field(description="SHA-256 in base64, checked when the part arrives; for all parts or for none."),
    ] = None


@graphql_input
class FileUploadCreate(Input):
    """How the file will be sent: parts that cover it, 5 MiB or more each but the last."""

    parts: Annotated[list[FilePartCreate], Field(min_length=1, max_length=MOST_PARTS)]


@graphql_input
class CompletedPart(Input):
    """A part that was put, and the ETag that was answered."""

    number: PartNumber
    checksum_etag: Annotated[str, Field(min_length=1, max_length=128, description="With or without quotes.")]
    checksum_sha256_base64: Annotated[ChecksumInput | None, Field(description="SHA-256 in base64.")] = None


@graphql_input
class FileUploadCompletion(Input):
    """Every part of the upload, as it was put."""

    id: Annotated[str, Field(min_length=1, max_length=2048, description="The `id` of the file's upload.")]
    path: Annotated[str, Field(min_length=1, max_length=2048, description="The `path` of the file.")]
    parts: Annotated[list[CompletedPart], Field(min_length=1, max_length=MOST_PARTS)]


@graphql_type
class FileDownload(Output):
    """Where the file can be had for an hour, by anyone who knows the address."""

    url: str
    headers: Annotated[HeaderFields, Field(description="To be sent with the GET.")]
    expires_at: Moment
