"""Files under static/: addresses with a hash of the content, and caching."""

import hashlib
import re
from functools import cache
from os import PathLike, stat_result
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Scope

STATIC_FOLDER = Path(__file__).parents[1] / "static"
STATIC_PATH = "/static"
# A chunk of a bundle: its name has its content's hash.
_CHUNK = re.compile(r"vendor/[a-z]+/chunk-[0-9A-Z]{8}\.js")
KEEP_FOR_A_YEAR = "public, max-age=31536000, immutable"
ASK_EACH_TIME = "no-cache"


@cache
def content_hash(name: str) -> str:
    """The first 16 hexadecimal digits of the file's SHA-256; Raises `FileNotFoundError`."""
    return hashlib.sha256((STATIC_FOLDER / name).read_bytes()).hexdigest()[:16]


def asset_url(name: str) -> str:
    """The address of a file under static/, which changes with its content."""
    return f"{STATIC_PATH}/{name}?v={content_hash(name)}"


class HashedStaticFiles(StaticFiles):
    """Static files that browsers cache for a year if the address has the content's hash.

    The hash is their entity tag too. Starlette's is of the size and the moment of the last change, which are
    the same of several files of a wheel, and what is sent compressed is kept by its tag.
    """

    def file_response(
        self, full_path: str | PathLike[str], stat_result: stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        headers = {"ETag": f'"{content_hash(self.get_path(scope))}"'}
        response = FileResponse(full_path, status_code, headers=headers, stat_result=stat_result)
        if self.is_not_modified(response.headers, Headers(scope=scope)):
            return NotModifiedResponse(response.headers)
        return response

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        hashes = parse_qs(scope["query_string"].decode("latin-1")).get("v")
        exists = response.status_code < 400
        current = exists and (hashes == [content_hash(path)] or _CHUNK.fullmatch(path) is not None)
        response.headers["Cache-Control"] = KEEP_FOR_A_YEAR if current else ASK_EACH_TIME
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


def static_route() -> Mount:
    """Serves the files under static/ at /static."""
    return Mount(STATIC_PATH, HashedStaticFiles(directory=STATIC_FOLDER), name="static")
