"""Uploads to a local store, as a client and the gateway perform them together."""

from base64 import b64encode
from datetime import timedelta
from hashlib import sha256
from urllib.parse import parse_qsl, urlsplit

from storage.objects.interface import PartReference
from storage.objects.local import LocalObjectStore

PATH = "downloadable/0f8fad5b/7c9e6679/summer mix & more?.zip"
HOUR = timedelta(hours=1)


def store_in(directory) -> LocalObjectStore:
    return LocalObjectStore(directory, "http://gateway/api/contents", b"secret")


def checksum(content: bytes) -> str:
    return b64encode(sha256(content).digest()).decode()


def parameters(request) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(request.url).query, strict_parsing=True))


async def streamed(content: bytes, step: int = 64 * 1024):
    for start in range(0, len(content), step):
        yield content[start : start + step]


async def signed_part(store, upload_id, number, size, declared=None, expires_in=HOUR):
    return await store.sign_part(
        upload_id, PATH, number, size, checksum_sha256_base64=declared, expires_in=expires_in
    )


async def put(store, upload_id, number, content, *, size=None, declared=None):
    """Accept a PUT of a signed part as the gateway's route does."""
    request = await signed_part(store, upload_id, number, len(content) if size is None else size, declared)
    claims = store.urls.verify_part(parameters(request), request.headers)
    return await store.receive_part(claims, streamed(content))


def reference(part, **changes):
    values = {
        "number": part.number,
        "size": part.size,
        "etag": part.etag,
        "checksum_sha256_base64": part.checksum_sha256_base64,
    }
    return PartReference(**{**values, **changes})


async def begin(store, path=PATH):
    return await store.begin(path, "application/zip", checksums=False)


async def uploaded(store, *contents, path=PATH):
    upload_id = await store.begin(path, "application/zip", checksums=False)
    parts = []
    for number, content in enumerate(contents, 1):
        request = await store.sign_part(
            upload_id, path, number, len(content), checksum_sha256_base64=None, expires_in=HOUR
        )
        claims = store.urls.verify_part(parameters(request), request.headers)
        parts.append(await store.receive_part(claims, streamed(content)))
    return await store.complete(upload_id, path, [reference(part) for part in parts])


async def content_of(store, path=PATH) -> bytes:
    opened = await store.open_object(path)
    return b"".join([chunk async for chunk in opened.read()])


def files_below(directory) -> list:
    return [file for file in directory.rglob("*") if file.is_file()]
