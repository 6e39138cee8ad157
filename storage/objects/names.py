"""Names of files: safe names, paths in the object store, readable sizes and Content-Disposition."""

import re
from urllib.parse import quote
from uuid import UUID

from storage.visible_text import without_hidden

LONGEST_NAME_BYTES = 255
LONGEST_SUFFIX_BYTES = 32
NAMELESS = "file"


def safe_name(name: str) -> str:
    """The name without path separators, `..`, and hidden or reordering characters (`without_hidden`).

    At most 255 bytes of UTF-8, and so at most 255 characters; a longer name keeps its extension. Never empty,
    never only dots. Idempotent.
    """
    segments = (segment for segment in re.split(r"[/\\]", without_hidden(name)) if segment != "..")
    joined = re.sub(r"\.{2,}", ".", "".join(segments)).strip()
    # Shortening may split a joined sequence of characters.
    shortened = without_hidden(_shorten(joined))
    return shortened if shortened.strip(". ") else NAMELESS


def _shorten(name: str) -> str:
    if len(name.encode()) <= LONGEST_NAME_BYTES:
        return name
    stem, dot, suffix = name.rpartition(".")
    ending = dot + suffix
    if not stem or len(ending.encode()) > LONGEST_SUFFIX_BYTES:
        stem, ending = name, ""
    room = LONGEST_NAME_BYTES - len(ending.encode())
    cut = stem.encode()[:room].decode(errors="ignore")
    # A stem that ends in a dot would make ".." with the extension.
    return cut.rstrip(". ").rstrip() + ending


def object_path(service: str, workspace_id: UUID, file_id: UUID, name: str) -> str:
    """`{service}/{workspace_id}/{file_id}/{safe name}`."""
    return f"{service}/{workspace_id}/{file_id}/{safe_name(name)}"


def content_disposition(file_name: str, *, attachment: bool) -> str:
    """The header of RFC 6266: an ASCII name for old clients, and the full name encoded by RFC 8187."""
    kind = "attachment" if attachment else "inline"
    plain = re.sub(r'[^ -~]|["\\%]', "_", file_name)
    encoded = quote(file_name, safe="", errors="replace")
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{encoded}"
