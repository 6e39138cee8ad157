"""The shape of files."""

from typing import Any
from urllib.parse import quote

from resolvers.files.contents import IMAGE_SERVICES
from resolvers.operations.shapes.shapes import Derived, Shape
from schema.files.files import File
from schema.values.prose import write_size
from storage.rows.rows import table_of
from storage.tables.shares.files import FileRow

MEDIA_PATH = "/media"

_files = table_of(FileRow)


def public_url(services: Any, service: str, path: str) -> str | None:
    """The public URL of an image; null for other files."""
    return f"{services.auth_url}{MEDIA_PATH}/{quote(path)}" if service in IMAGE_SERVICES else None


FILE = Shape(
    File,
    _files,
    {
        "size_readable": Derived(write_size, (_files.c.size,)),
        "public_url": Derived(public_url, (_files.c.service, _files.c.path), uses_services=True),
    },
    omitted=frozenset({"upload"}),
)
