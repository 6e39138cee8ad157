"""The HTTP answer to a signed download from the local store: status, headers and content."""

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from storage.objects.interface import ObjectContent
from storage.objects.names import content_disposition
from storage.objects.signing import DownloadClaims

SINGLE_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


@dataclass(frozen=True)
class DownloadAnswer:
    """Status 200, 206 for a range of the object, or 416, for which `chunks` is empty."""

    status: int
    headers: dict[str, str]
    chunks: AsyncIterator[bytes]


def answer_download(
    content: ObjectContent, claims: DownloadClaims, request_headers: Mapping[str, str]
) -> DownloadAnswer:
    """The whole object, or the requested range (RFC 9110); several ranges give the whole object.

    Header names are looked up in lower case. The content security policy stops content that a browser shows
    from running scripts on our own origin.
    """
    headers = {
        "content-type": claims.mime_type,
        "content-disposition": content_disposition(claims.file_name, attachment=claims.attachment),
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        "x-content-type-options": "nosniff",
        "accept-ranges": "bytes",
        "etag": content.etag,
    }
    requested = request_headers.get("range", "")
    if request_headers.get("if-range", content.etag) != content.etag:
        requested = ""
    bounds = _requested_range(requested, content.size)
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
    """Start and exclusive end, equal if the range is empty; None unless the header names a single range."""
    match = SINGLE_RANGE.fullmatch(header.strip())
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        return max(0, size - int(match[2])), size
    start, last = int(match[1]), int(match[2] or size)
    if match[2] and last < start:
        return None  # malformed, so ignored
    return min(start, size), min(last + 1, size)
