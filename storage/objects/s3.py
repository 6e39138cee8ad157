"""The object store on S3: callers put parts to the bucket and get objects from it by presigned URLs."""

from collections.abc import AsyncGenerator, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from storage.enums import FileService
from storage.objects.interface import (
    ObjectMissing,
    OpenUpload,
    PartReference,
    PartsRefused,
    SignedRequest,
    StoredObject,
    StoredPart,
    UploadUnknown,
)
from storage.objects.names import content_disposition
from storage.objects.parts import composite_etag, part_problems, quoted_etag
from storage.objects.paths import check_path
from storage.objects.s3_connection import Bucket, S3Connection, s3_failures
from storage.objects.signing import CHECKSUM_HEADER

READ_BYTES = 256 * 1024
PROBE = "duograph-check"

# Our id of an upload is S3's id after one of these marks, because signing and joining parts must know whether
# they carry checksums, and no request to S3 would tell.
_CHECKED, _UNCHECKED = "sha256.", "plain."


@dataclass(frozen=True)
class S3Content:
    """A readable object, in the version that `etag` identifies."""

    path: str
    size: int
    etag: str
    connection: S3Connection
    bucket: str

    async def read(self, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        """The bytes from `start` to `end` (exclusive; default: all), 256 KiB at a time."""
        last = (self.size if end is None else end) - 1
        if last < start:
            return
        client = await self.connection.client()
        with s3_failures(self.path):
            answer = await client.get_object(
                Bucket=self.bucket, Key=self.path, Range=f"bytes={start}-{last}", IfMatch=self.etag
            )
            async with answer["Body"] as body:
                async for chunk in body.iter_chunks(READ_BYTES):
                    yield chunk


class S3ObjectStore:
    """Objects in one bucket, at their paths; other content of the bucket is never touched.

    S3 itself holds the parts of open uploads, checks received parts against the signature, and makes each
    object appear whole.
    """

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket.name
        self._connection = S3Connection(bucket)

    async def begin(self, path: str, mime_type: str, *, checksums: bool) -> str:
        """Open an upload; with `checksums`, S3 accepts no part without its SHA-256."""
        check_path(path)
        options = {"ChecksumAlgorithm": "SHA256", "ChecksumType": "COMPOSITE"} if checksums else {}
        answer = await self._send("create_multipart_upload", path, ContentType=mime_type, **options)
        return (_CHECKED if checksums else _UNCHECKED) + str(answer["UploadId"])

    async def sign_part(
        self,
        upload_id: str,
        path: str,
        number: int,
        size: int,
        *,
        checksum_sha256_base64: str | None,
        expires_in: timedelta,
    ) -> SignedRequest:
        """A PUT. S3 checks the checksum and `content-length`, which every client sends by itself."""
        values = {"UploadId": _s3_id(upload_id), "PartNumber": number, "ContentLength": size}
        headers = {}
        if checksum_sha256_base64 is not None:
            values["ChecksumSHA256"] = checksum_sha256_base64
            headers[CHECKSUM_HEADER] = checksum_sha256_base64
        return await self._sign("upload_part", path, values, headers, expires_in)

    async def list_parts(self, upload_id: str, path: str) -> list[StoredPart]:
        """The parts received completely, by number. Raises `UploadUnknown`."""
        values = {"Bucket": self._bucket, "Key": path, "UploadId": _s3_id(upload_id)}
        client = await self._connection.client()
        parts = []
        with s3_failures(path):
            async for page in client.get_paginator("list_parts").paginate(**values):
                parts += [_stored_part(part) for part in page.get("Parts", [])]
        return sorted(parts, key=lambda part: part.number)

    async def complete(self, upload_id: str, path: str, parts: Sequence[PartReference]) -> StoredObject:
        """Have S3 join the parts; an unknown upload may have been joined before."""
        try:
            problems = part_problems(parts, await self.list_parts(upload_id, path))
            if problems:
                raise PartsRefused(problems)
            return await self._join(upload_id, path, parts)
        except UploadUnknown:
            earlier = await self._joined_before(upload_id, path, parts)
            if earlier is None:
                raise
            return earlier

    async def _join(self, upload_id: str, path: str, parts: Sequence[PartReference]) -> StoredObject:
        ordered = sorted(parts, key=lambda part: part.number)
        references = [_reference(part, with_checksum=upload_id.startswith(_CHECKED)) for part in ordered]
        answer = await self._send(
            "complete_multipart_upload",
            path,
            UploadId=_s3_id(upload_id),
            MultipartUpload={"Parts": references},
        )
        return _stored_object(upload_id, ordered, answer)

    async def _joined_before(
        self, upload_id: str, path: str, parts: Sequence[PartReference]
    ) -> StoredObject | None:
        """The object at the path, if it has the size and the ETag that these parts make."""
        ordered = sorted(parts, key=lambda part: part.number)
        try:
            expected = composite_etag([part.etag for part in ordered])
            stored = await self._send("head_object", path)
        except (ValueError, ObjectMissing):  # ETags of S3 are hexadecimal: any other cannot match
            return None
        same_size = stored["ContentLength"] == sum(part.size for part in ordered)
        if not same_size or quoted_etag(stored["ETag"]) != expected:
            return None
        return _stored_object(upload_id, ordered, stored)

    async def abort(self, upload_id: str, path: str) -> None:
        """Drop the upload and its parts; does nothing for an unknown upload."""
        try:
            await self._send("abort_multipart_upload", path, UploadId=_s3_id(upload_id))
        except UploadUnknown:
            return

    async def delete(self, path: str) -> None:
        """Remove the object; a bucket with versions still keeps its old versions."""
        check_path(path)
        await self._send("delete_object", path)

    async def sign_download(
        self, path: str, file_name: str, mime_type: str, expires_in: timedelta, *, attachment: bool
    ) -> SignedRequest:
        """A GET that S3 answers with this type and name."""
        check_path(path)
        values = {
            "ResponseContentType": mime_type,
            "ResponseContentDisposition": content_disposition(file_name, attachment=attachment),
        }
        return await self._sign("get_object", path, values, {}, expires_in)

    async def open_object(self, path: str) -> S3Content:
        """The object, readable in chunks. Raises `ObjectMissing`, `PathRefused`."""
        check_path(path)
        stored = await self._send("head_object", path)
        return S3Content(path, stored["ContentLength"], stored["ETag"], self._connection, self._bucket)

    async def read_start(self, path: str, size: int) -> bytes:
        """The object's first bytes, `size` at most. Raises `ObjectMissing`, `PathRefused`."""
        content = await self.open_object(path)
        return b"".join([chunk async for chunk in content.read(0, min(size, content.size))])

    async def drop_uploads(self, begun_before: datetime, keep: Set[OpenUpload]) -> int:
        """Abort open uploads below the services' paths, except those to `keep`."""
        client, dropped = await self._connection.client(), 0
        kept = {OpenUpload(upload_id.partition(".")[2], path) for upload_id, path in keep}
        for service in FileService:
            values = {"Bucket": self._bucket, "Prefix": f"{service}/"}
            with s3_failures():
                async for page in client.get_paginator("list_multipart_uploads").paginate(**values):
                    for upload in page.get("Uploads", []):
                        open_upload = OpenUpload(upload["UploadId"], upload["Key"])
                        if open_upload not in kept and upload["Initiated"] < begun_before:
                            await self.abort(_UNCHECKED + open_upload.upload_id, open_upload.path)
                            dropped += 1
        return dropped

    async def check(self) -> None:
        """Open an upload and drop it: this needs every permission of an upload and leaves nothing behind."""
        await self.abort(await self.begin(PROBE, "text/plain", checksums=True), PROBE)

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def _send(self, operation: str, path: str, **values: Any) -> dict[str, Any]:
        client = await self._connection.client()
        with s3_failures(path):
            answer: dict[str, Any] = await getattr(client, operation)(Bucket=self._bucket, Key=path, **values)
        return answer

    async def _sign(
        self,
        operation: str,
        path: str,
        values: dict[str, Any],
        headers: dict[str, str],
        expires_in: timedelta,
    ) -> SignedRequest:
        expires_at = (datetime.now(UTC) + expires_in).replace(microsecond=0)
        signer = await self._connection.signer()
        with s3_failures(path):
            url = await signer.generate_presigned_url(
                operation,
                Params={"Bucket": self._bucket, "Key": path, **values},
                ExpiresIn=int(expires_in.total_seconds()),
            )
        return SignedRequest(url, headers, expires_at)


def _s3_id(upload_id: str) -> str:
    """S3's own id. Raises `UploadUnknown` for an id that `begin` never returned."""
    for mark in (_CHECKED, _UNCHECKED):
        if upload_id.startswith(mark) and upload_id != mark:
            return upload_id.removeprefix(mark)
    raise UploadUnknown


def _reference(part: PartReference, *, with_checksum: bool) -> dict[str, Any]:
    reference: dict[str, Any] = {"PartNumber": part.number, "ETag": quoted_etag(part.etag)}
    return reference | ({"ChecksumSHA256": part.checksum_sha256_base64} if with_checksum else {})


def _stored_part(part: dict[str, Any]) -> StoredPart:
    return StoredPart(part["PartNumber"], part["Size"], quoted_etag(part["ETag"]), part.get("ChecksumSHA256"))


def _stored_object(upload_id: str, parts: Sequence[PartReference], answer: dict[str, Any]) -> StoredObject:
    """S3 has verified declared checksums; a bucket without versions answers `null` as the version."""
    single = parts[0].checksum_sha256_base64 if len(parts) == 1 else None
    version = answer.get("VersionId")
    return StoredObject(
        size=sum(part.size for part in parts),
        etag=quoted_etag(answer["ETag"]),
        checksum_sha256_base64=single if upload_id.startswith(_CHECKED) else None,
        version=None if version == "null" else version,
    )
