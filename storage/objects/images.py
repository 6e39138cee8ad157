"""Image types, recognised by the first bytes of a file."""

import re

HEAD_BYTES = 4096

# An SVG may begin with a byte order mark, a declaration, comments and a document type.
_SVG = rb"(?:\xef\xbb\xbf)?(?:\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>)*+<svg[\s/>]"

_SIGNATURES = {
    media_type: re.compile(signature, re.DOTALL)
    for media_type, signature in {
        "image/avif": rb".{4}ftyp(?:.{4}){0,16}?avi[fs]",
        "image/bmp": rb"BM",
        "image/gif": rb"GIF8[79]a",
        "image/heic": rb".{4}ftyp(?:hei[cx]|hevc|mif1|msf1)",
        "image/jpeg": rb"\xff\xd8\xff",
        "image/png": rb"\x89PNG\r\n\x1a\n",
        "image/svg+xml": _SVG,
        "image/tiff": rb"II\*\x00|MM\x00\*",
        "image/webp": rb"RIFF.{4}WEBP",
        "image/x-icon": rb"\x00\x00\x01\x00",
    }.items()
}
IMAGE_TYPES = tuple(_SIGNATURES)


def is_image_type(mime_type: str) -> bool:
    """Whether the type, in any case, is one of `IMAGE_TYPES`."""
    return mime_type.lower() in _SIGNATURES


def begins_as(mime_type: str, head: bytes) -> bool:
    """Whether a file whose first `HEAD_BYTES` are `head` is an image of this type."""
    return _SIGNATURES[mime_type.lower()].match(head) is not None
