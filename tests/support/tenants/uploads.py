"""Files uploaded as a caller uploads them, through the real routes, for the tests."""

from base64 import b64decode, b64encode
from hashlib import sha256
from typing import Any

from httpx import AsyncClient, Response

from tests.support.callers.surfaces import Surface

MIB = 1024 * 1024
PART = 5 * MIB
# An image of 16 by 16 pixels in two colours.
PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAJElEQVR42mPgL8uDI2eLU3CES5xhEGogRhGy+GDUMB"
    "oPg0IDAIl+HBBlYOV7AAAAAElFTkSuQmCC"
)


def checksum(content: bytes) -> str:
    return b64encode(sha256(content).digest()).decode()


def new_file(content: bytes = b"content", part_size: int = PART, **values: Any) -> dict[str, Any]:
    """The body of `create_file` for this content, cut into parts."""
    starts = range(0, len(content), part_size)
    parts = [
        {"number": number, "chunk_start": start, "chunk_end": min(start + part_size, len(content))}
        for number, start in enumerate(starts, 1)
    ]
    return {
        "service": "downloadable",
        "name": "mix.zip",
        "mime_type": "application/zip",
        "size": len(content),
        "upload": {"parts": parts},
        **values,
    }


def with_checksums(data: dict[str, Any], content: bytes) -> dict[str, Any]:
    """The body of `create_file`, with the SHA-256 of each part declared."""
    for part in data["upload"]["parts"]:
        part["checksum_sha256_base64"] = checksum(content[part["chunk_start"] : part["chunk_end"]])
    return data


async def put(client: AsyncClient, part: dict[str, Any], content: bytes) -> Response:
    """PUT one part to its address; `content` is the part's own."""
    return await client.put(part["url"], content=content, headers=part["headers"])


async def put_parts(surface: Surface, upload: dict[str, Any], content: bytes) -> list[dict[str, Any]]:
    """PUT the parts that have not arrived, and give all of them as the completion takes them."""
    parts = []
    for part in upload["parts"]:
        etag = part["checksum_etag"]
        if etag is None:
            answer = await put(surface.client, part, content[part["chunk_start"] : part["chunk_end"]])
            assert answer.status_code == 200, answer.text
            etag = answer.headers["etag"]
        parts.append({"number": part["number"], "checksum_etag": etag, "checksum_sha256_base64": None})
    return parts


def completion(file: dict[str, Any], parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The body of `complete_file_upload`."""
    return {"id": file["upload"]["id"], "path": file["path"], "parts": parts}


async def upload_file(
    surface: Surface, content: bytes = b"content", part_size: int = PART, **values: Any
) -> dict[str, Any]:
    """A fully uploaded file with this content."""
    file = await surface.create_file(data=new_file(content, part_size, **values))
    parts = await put_parts(surface, file["upload"], content)
    uploaded: dict[str, Any] = await surface.complete_file_upload(id=file["id"], data=completion(file, parts))
    return uploaded


async def upload_image(surface: Surface, **values: Any) -> dict[str, Any]:
    """A fully uploaded image that can be a share's media."""
    image = {"service": "product_media", "name": "cover.png", "mime_type": "image/png"}
    return await upload_file(surface, PNG, **{**image, **values})
