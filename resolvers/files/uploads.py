"""Uploads of files: the plan of parts, the parts that arrived, and the completion."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import select

from resolvers.files.contents import IMAGE_SERVICES, RETRY_AFTER_SECONDS, check_content
from resolvers.operations.context import Context
from schema.errors import Invalid, Problem, Unavailable, problem
from schema.files.files import FileCreate
from schema.files.uploads import (
    LARGEST_PART,
    SMALLEST_PART,
    CompletedPart,
    FilePartCreate,
    FileUpload,
    FileUploadPart,
)
from storage.objects.images import IMAGE_TYPES, is_image_type
from storage.objects.interface import (
    PartFault,
    PartProblem,
    PartReference,
    PartsRefused,
    StoredObject,
    StoreUnavailable,
    UploadUnknown,
)
from storage.objects.parts import part_problems
from storage.rows.rows import Values, every_of, table_of, values_of
from storage.tables.shares.files import FilePartRow, FileRow

URL_LIFETIME = timedelta(hours=1)

_NAMED_PARTS = 10
SIGNED_AT_A_TIME = 50
_FIELD_AT_FAULT = {
    PartFault.missing: "number",
    PartFault.repeated: "number",
    PartFault.size: "number",
    PartFault.etag: "checksum_etag",
    PartFault.checksum: "checksum_sha256_base64",
}
_parts = table_of(FilePartRow)


class BegunUpload(NamedTuple):
    """The values of a new file that the store was given, and the id of its upload, for the file's row."""

    workspace_id: UUID
    id: UUID
    name: str
    path: str
    upload_id: str


@contextmanager
def store_failures() -> Iterator[None]:
    """Turn the object store's `StoreUnavailable` into `Unavailable`."""
    try:
        yield
    except StoreUnavailable as error:
        headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
        raise Unavailable(f"Files cannot be kept or read just now: {error}.", headers) from error


def check_new_file(ctx: Context, data: FileCreate) -> None:
    """Raises `Invalid` with every rule that the file or its plan of parts breaks."""
    problems = list(_plan_problems(data.size, data.upload.parts))
    limit = ctx.services.size_limits[data.service]
    if data.size > limit:
        message = f"A {data.service} file has at most {limit} bytes"
        problems.append(problem(("data", "size"), message, "less_than_equal", input=data.size))
    if data.service in IMAGE_SERVICES and not is_image_type(data.mime_type):
        message = f"A {data.service} file is an image: {', '.join(IMAGE_TYPES)}"
        problems.append(problem(("data", "mime_type"), message, "mime_type", input=data.mime_type))
    if len(data.upload.parts) == 1 and data.checksum_sha256_base64 is not None:
        stated = data.upload.parts[0].checksum_sha256_base64
        if stated not in {None, data.checksum_sha256_base64}:
            loc = ("data", "upload", "parts", 0, "checksum_sha256_base64")
            problems.append(problem(loc, "The only part has the file's SHA-256", "checksum", input=stated))
    if problems:
        raise Invalid(problems)


def part_values(data: FileCreate) -> list[Values]:
    """The values of the parts' rows; a single part is also checked against the file's SHA-256."""
    parts = [part.model_dump() for part in data.upload.parts]
    if len(parts) == 1:
        parts[0]["checksum_sha256_base64"] = data.checksum_sha256_base64 or parts[0]["checksum_sha256_base64"]
    return parts


async def begin_upload(ctx: Context, path: str, mime_type: str, parts: Sequence[Values]) -> str:
    """Begin an upload in the store and return its id."""
    checksums = all(part["checksum_sha256_base64"] is not None for part in parts)
    with store_failures():
        return await ctx.services.objects.begin(path, mime_type, checksums=checksums)


async def declared_parts(ctx: Context, file: FileRow) -> list[FilePartRow]:
    """The parts of the file's plan, by number."""
    own = (_parts.c.workspace_id == file.workspace_id, _parts.c.file_id == file.id)
    statement = select(_parts).where(*own).order_by(_parts.c.number)
    async with ctx.read() as connection:
        return await every_of(connection, FilePartRow, statement)


async def describe_upload(ctx: Context, file: FileRow, *, is_new: bool = False) -> FileUpload:
    """The parts of an unfinished upload that arrived, and new URLs for the others; none of a new one arrived.

    There are no URLs if the store has joined the parts but the file is not marked as complete: then only
    the completion can be repeated.
    """
    declared = await declared_parts(ctx, file)
    with store_failures():
        try:
            upload = (file.upload_id, file.path)
            arrived = [] if is_new else await ctx.services.objects.list_parts(*upload)
        except UploadUnknown:
            parts = [_described(row, None) for row in declared]
        else:
            etags = {part.number: part.etag for part in arrived}
            parts = []
            for row in declared:
                etag = etags.get(row.number)
                parts.append(await _addressed(ctx, file, row) if etag is None else _described(row, etag))
                if len(parts) % SIGNED_AT_A_TIME == 0:
                    await asyncio.sleep(0)  # 10,000 URLs take seconds to sign: let other requests run
    return FileUpload(id=file.upload_id, path=file.path, parts=parts)


async def complete_upload(ctx: Context, file: FileRow, sent: Sequence[CompletedPart]) -> StoredObject:
    """Join the parts. Raises `Invalid` with the location of every fault; the upload stays open.

    If the process is killed between this and the commit, the same parts produce the same object again.
    """
    objects, upload = ctx.services.objects, (file.upload_id, file.path)
    declared = {part.number: part for part in await declared_parts(ctx, file)}
    problems = list(_mention_problems(sent, declared))
    indexes = {part.number: index for index, part in reversed(list(enumerate(sent)))}
    references = [
        _reference(sent[index], declared[number]) for number, index in indexes.items() if number in declared
    ]
    with store_failures():
        try:
            if problems:
                arrived = await objects.list_parts(*upload) if references else []
                raise PartsRefused(part_problems(references, arrived) if references else [])
            stored = await objects.complete(*upload, references)
        except PartsRefused as refused:
            problems += [_located(fault, sent, indexes) for fault in refused.problems]
            raise Invalid(problems) from None
        except UploadUnknown:
            message = "This upload has ended, and not with these parts: delete the file and make it again"
            raise Invalid([*problems, problem(("data", "id"), message, "upload")]) from None
        await check_content(ctx, file)
    return stored


def _plan_problems(size: int, parts: Sequence[FilePartCreate]) -> Iterable[Problem]:
    """Ordered by number, the parts have to cover the bytes from 0 to `size` without gaps."""
    ordered = sorted(enumerate(parts), key=lambda entry: entry[1].number)
    reached = 0
    for number, (index, part) in enumerate(ordered, 1):
        loc, is_last = ("data", "upload", "parts", index), number == len(parts)
        if part.number != number:
            message = f"Parts are numbered from 1 without gaps or repeats: this would be part {number}"
            yield problem((*loc, "number"), message, "part_number", input=part.number)
        if part.chunk_start != reached:
            message = f"The part should start at {reached}, where the one before it ends"
            yield problem((*loc, "chunk_start"), message, "part_start", input=part.chunk_start)
        if part.chunk_end <= part.chunk_start:
            message = "The part should end after it starts"
            yield problem((*loc, "chunk_end"), message, "part_end", input=part.chunk_end)
        elif is_last and part.chunk_end != size:
            message = f"The last part should end at {size}, the file's size"
            yield problem((*loc, "chunk_end"), message, "part_end", input=part.chunk_end)
        elif part.chunk_end - part.chunk_start > LARGEST_PART:
            message = f"A part has at most {LARGEST_PART} bytes"
            yield problem((*loc, "chunk_end"), message, "part_size", input=part.chunk_end)
        elif not is_last and part.chunk_end - part.chunk_start < SMALLEST_PART:
            message = f"Every part but the last has {SMALLEST_PART} bytes or more"
            yield problem((*loc, "chunk_end"), message, "part_size", input=part.chunk_end)
        reached = part.chunk_end
    declared = [part.checksum_sha256_base64 is not None for part in parts]
    if any(declared) and not all(declared):
        place = ("data", "upload", "parts", declared.index(False), "checksum_sha256_base64")
        yield problem(place, "Declare the SHA-256 of every part or of none", "missing")


def _mention_problems(sent: Sequence[CompletedPart], declared: dict[int, FilePartRow]) -> Iterable[Problem]:
    seen: set[int] = set()
    for index, part in enumerate(sent):
        loc = ("data", "parts", index, "number")
        if part.number not in declared:
            yield problem(loc, "The upload has no such part", "not_found", input=part.number)
        elif part.number in seen:
            yield problem(loc, "This part is named more than once", PartFault.repeated, input=part.number)
        elif _contradicts(part, declared[part.number]):
            place, sha256 = (*loc[:-1], "checksum_sha256_base64"), part.checksum_sha256_base64
            yield problem(
                place, "The part was declared with another SHA-256", PartFault.checksum, input=sha256
            )
        seen.add(part.number)
    missing = [str(number) for number in declared if number not in seen]
    if missing:
        yield problem(("data", "parts"), _say_missing(missing), PartFault.missing)


def _say_missing(numbers: list[str]) -> str:
    if len(numbers) == 1:
        return f"Part {numbers[0]} is missing"
    more = len(numbers) - _NAMED_PARTS
    named, last = (numbers[:_NAMED_PARTS], f"{more} more") if more > 0 else (numbers[:-1], numbers[-1])
    return f"Parts {', '.join(named)} and {last} are missing"


def _reference(sent: CompletedPart, declared: FilePartRow) -> PartReference:
    return PartReference(
        number=sent.number,
        size=declared.chunk_end - declared.chunk_start,
        etag=sent.checksum_etag,
        checksum_sha256_base64=declared.checksum_sha256_base64 or sent.checksum_sha256_base64,
    )


def _contradicts(sent: CompletedPart, declared: FilePartRow) -> bool:
    checksums = {sent.checksum_sha256_base64, declared.checksum_sha256_base64} - {None}
    return len(checksums) > 1


def _located(fault: PartProblem, sent: Sequence[CompletedPart], indexes: dict[int, int]) -> Problem:
    index, field = indexes[fault.number], _FIELD_AT_FAULT[fault.fault]
    message = fault.message[:1].upper() + fault.message[1:]
    loc = ("data", "parts", index, field)
    return problem(loc, message, fault.fault, input=getattr(sent[index], field))


def _described(declared: FilePartRow, etag: str | None) -> FileUploadPart:
    return FileUploadPart.model_validate(
        {**values_of(declared), "checksum_etag": etag, "url": None, "headers": None, "expires_at": None}
    )


async def _addressed(ctx: Context, file: FileRow, declared: FilePartRow) -> FileUploadPart:
    signed = await ctx.services.objects.sign_part(
        file.upload_id,
        file.path,
        declared.number,
        declared.chunk_end - declared.chunk_start,
        checksum_sha256_base64=declared.checksum_sha256_base64,
        expires_in=URL_LIFETIME,
    )
    request = {"url": signed.url, "headers": signed.headers, "expires_at": signed.expires_at}
    return FileUploadPart.model_validate({**values_of(declared), "checksum_etag": None, **request})
