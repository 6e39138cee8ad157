"""Compares each answer that a test sees with what openapi.json declares for its path and method."""

import re
from collections import defaultdict
from functools import cache
from typing import Any

import httpx

from rest_compat.openapi.document import openapi_document

_METHODS = {"get", "post", "patch", "put", "delete"}


async def check_declared(answer: httpx.Response) -> None:
    """A hook of a client. Raises `AssertionError` for a status or a media type that is not declared."""
    method, path = answer.request.method.lower(), answer.request.url.path
    # What is asked elsewhere is not the gateway's, and a path that no row can have leads nowhere.
    is_ours = answer.request.url.host == "gateway" and path.isprintable()
    responses = _responses_of(method, path) if is_ours else None
    if responses is None:
        return
    declared = responses.get(str(answer.status_code))
    assert declared is not None, f"{method.upper()} {path} answers {answer.status_code}: declare it"
    sent = answer.headers.get("content-type", "").partition(";")[0]
    kinds = declared.get("content", {}) or {"": {}}
    assert sent in kinds, f"{method.upper()} {path} answers {answer.status_code} as {sent or 'nothing'}"


def _responses_of(method: str, path: str) -> dict[str, Any] | None:
    """What the operation answers by status; None for a path that is not in the contract."""
    for pattern, operations in _paths()[path.count("/")]:
        if pattern.fullmatch(path):
            return operations.get(method)
    return None


@cache
def _paths() -> defaultdict[int, list[tuple[re.Pattern[str], dict[str, dict[str, Any]]]]]:
    """The paths by their number of slashes, those without parameters first."""
    document = openapi_document()
    shared = document["components"]["responses"]
    paths: defaultdict[int, Any] = defaultdict(list)
    for path, entry in sorted(document["paths"].items(), key=lambda item: "{" in item[0]):
        pattern = re.compile(re.sub(r"\{[^}]*\}", "[^/]+", path))
        operations = {
            method: {
                status: shared[response["$ref"].rpartition("/")[2]] if "$ref" in response else response
                for status, response in operation["responses"].items()
            }
            for method, operation in entry.items()
            if method in _METHODS
        }
        paths[path.count("/")].append((pattern, operations))
    return paths
