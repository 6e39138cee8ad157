"""Compares each answer that a test sees with what is declared.

Statuses, media types, headers and bodies are in openapi.json, codes in docs/errors.md; each problem names its
place.
"""

import re
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx
from jsonschema_rs import Draft202012Validator, Registry

from resolvers.graph.execution.spelling import graphql_name
from rest_compat.openapi.document import openapi_document
from rest_compat.routing.reading import rest_name
from schema.kit.problems import names

_METHODS = {"get", "post", "patch", "put", "delete"}
_DOCUMENT = "urn:openapi"
# Those that say something of an operation; the others are of HTTP, browsers and caches.
_HEADERS = {"etag", "location", "idempotency-replayed", "retry-after", "ratelimit", "ratelimit-policy"}
# To parse megabytes here would count as memory of the gateway.
LONGEST_BODY = 100_000


class _Response(NamedTuple):
    """A response of openapi.json, and where it is there."""

    pointer: str
    declared: dict[str, Any]


async def check_declared(answer: httpx.Response) -> None:
    """A hook of a client. Raises `AssertionError` for what is not declared, `ValidationError` for a body."""
    method, path = answer.request.method.lower(), answer.request.url.path
    # What is asked elsewhere is not the gateway's, and a path that no row can have leads nowhere.
    is_ours = answer.request.url.host == "gateway" and path.isprintable()
    responses = _responses_of(method, path) if is_ours else None
    if responses is None:
        return
    response = responses.get(str(answer.status_code))
    assert response is not None, f"{method.upper()} {path} answers {answer.status_code}: declare it"
    pointer, declared = response
    sent = answer.headers.get("content-type", "").partition(";")[0]
    kinds = declared.get("content", {}) or {"": {}}
    what = f"{method.upper()} {path} answers {answer.status_code}"
    assert sent in kinds, f"{what} as {sent or 'nothing'}"
    headers = {name.lower() for name in declared.get("headers", ())}
    undeclared = {name.lower() for name in answer.headers} & _HEADERS - headers
    assert not undeclared, f"{what} with {undeclared}: declare them"
    is_short = int(answer.headers.get("content-length", LONGEST_BODY)) < LONGEST_BODY
    if sent == "application/json" and is_short:
        await answer.aread()
        _validator(f"{pointer}/content/application~1json/schema").validate(answer.json())


async def check_problems(answer: httpx.Response) -> None:
    """A hook of a client. Raises `AssertionError` for a problem that does not name its place."""
    if answer.request.url.host != "gateway" or answer.request.method == "HEAD":
        return
    path, kind = answer.request.url.path, answer.headers.get("content-type", "")
    if path == "/graphql" and "json" in kind:
        # To parse megabytes of data here would count as memory of the gateway.
        is_refused = b'"errors"' in await answer.aread()
        for error in answer.json().get("errors", []) if is_refused else []:
            said = error["extensions"]
            assert said["code"] in _codes(), f"{said['code']} is not in docs/errors.md"
            detail = said["detail"] if isinstance(said["detail"], list) else []
            assert len(detail) <= 1, f"Several problems are in one error: {detail}"
            _check_names(detail, graphql_name)
    elif path.startswith("/api/") and answer.status_code == 422:
        await answer.aread()
        detail = answer.json()["detail"]
        _check_names(detail if isinstance(detail, list) else [], rest_name)


def _check_names(detail: list[Any], name_of: Callable[[Any], str]) -> None:
    for entry in detail:
        name = name_of(entry["loc"])
        is_named = not name or names(entry["msg"], name) or entry["msg"].startswith("The body ")
        assert is_named, f"{entry['msg']!r} does not name `{name}`"


@cache
def _codes() -> frozenset[str]:
    text = (Path(__file__).parents[3] / "docs" / "errors.md").read_text()
    return frozenset(re.findall(r"^\| `(\w+)`", text, re.MULTILINE))


@cache
def _validator(pointer: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"{_DOCUMENT}#/{quote(pointer)}"}, registry=_registry())


@cache
def _registry() -> Registry:
    return Registry([(_DOCUMENT, openapi_document())])


def _responses_of(method: str, path: str) -> dict[str, _Response] | None:
    """What the operation answers by status; None for a path that is not in the contract."""
    for pattern, operations in _paths()[path.count("/")]:
        if pattern.fullmatch(path):
            return operations.get(method)
    return None


@cache
def _paths() -> defaultdict[int, list[tuple[re.Pattern[str], dict[str, dict[str, _Response]]]]]:
    """The paths by their number of slashes, those without parameters first."""
    paths: defaultdict[int, Any] = defaultdict(list)
    for path, entry in sorted(openapi_document()["paths"].items(), key=lambda item: "{" in item[0]):
        pattern = re.compile(re.sub(r"\{[^}]*\}", "[^/]+", path))
        operations = {
            method: {status: _response(path, method, status) for status in operation["responses"]}
            for method, operation in entry.items()
            if method in _METHODS
        }
        paths[path.count("/")].append((pattern, operations))
    return paths


def _response(path: str, method: str, status: str) -> _Response:
    document = openapi_document()
    response = document["paths"][path][method]["responses"][status]
    if "$ref" in response:
        name = response["$ref"].rpartition("/")[2]
        return _Response(f"components/responses/{name}", document["components"]["responses"][name])
    return _Response(f"paths/{path.replace('/', '~1')}/{method}/responses/{status}", response)
