"""The HTTP answer to a signed download of the local store: status, headers and the bytes asked for."""

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from storage.objects.interface import ObjectContent
from storage.objects.names import content_disposition
from storage.objects.signing import DownloadClaims

SINGLE_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


@dataclass(frozen=True)
class DownloadAnswer:
    """200, 206 for a part of the object, or 416; `chunks` is empty for 416."""

    status: int
    headers: dict[str, str]
    chunks: AsyncIterator[bytes]


def answer_download(
    content: ObjectContent, claims: DownloadClaims, request_headers: Mapping[str, str]
) -> DownloadAnswer:
    """Answer with the whole object or the one range asked for (RFC 9110); several ranges give the whole.

    Header names are looked up in lower case. What is shown and not saved can run nothing, since it comes from
    our own address.
    """
    headers = {
        "content-type": claims.mime_type,
        "content-disposition": content_disposition(claims.file_name, attachment=claims.attachment),
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        "x-content-type-options": "nosniff",
        "accept-ranges": "bytes",
        "etag": content.etag,
    }
    wanted = request_headers.get("range", "")
    if request_headers.get("if-range", content.etag) != content.etag:
        wanted = ""
    bounds = _requested_range(wanted, content.size)
    if bounds is None:
        return DownloadAnswer(200, {**headers, "content-length": str(content.size)}, content.read())
    start, end = bounds
    if start >= end:
        unsatisfied = {"content-range": f"bytes */{content.size}", "content-length": "0"}
        return DownloadAnswer(416, unsatisfied, content.read(0, 0))
    headers["content-range"] = f"bytes {start}-{end - 1}/{content.size}"
    headers["content-length"] = str(end - start)
    return DownloadAnswer(206, headers, content.read(start, end))


def _requested_range(header: str, size: int) -> tuple[int, int] | None:
    """Start and exclusive end; equal when nothing of the object is asked for, None without a single range."""
    found = SINGLE_RANGE.fullmatch(header.strip())
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        return max(0, size - int(found[2])), size
    start, last = int(found[1]), int(found[2] or size)
    if found[2] and last < start:
        return None  # malformed, to be ignored
    return min(start, size), min(last + 1, size)
