"""Compares each answer that a test sees with what is declared.

Statuses, media types, headers and bodies are in openapi.json, codes in docs/errors.md; each problem names its
place. Of each operation's bodies with a status, the first ones are compared: a schema takes a millisecond.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import httpx
from jsonschema import Draft202012Validator

from resolvers.graph.execution.spelling import graphql_name
from rest_compat.openapi.document import openapi_document
from rest_compat.routing.reading import rest_name
from schema.kit.problems import names

_METHODS = {"get", "post", "patch", "put", "delete"}
# Those that say something of an operation; the others are of HTTP, browsers and caches.
_HEADERS = {"etag", "location", "idempotency-replayed", "retry-after", "ratelimit", "ratelimit-policy"}
MOST_BODIES, LONGEST_BODY = 2, 100_000
_compared = Counter[int]()


async def check_declared(answer: httpx.Response) -> None:
    """A hook of a client. Raises `AssertionError` for what is not declared, `ValidationError` for a body."""
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
    what = f"{method.upper()} {path} answers {answer.status_code}"
    assert sent in kinds, f"{what} as {sent or 'nothing'}"
    headers = {name.lower() for name in declared.get("headers", ())}
    undeclared = {name.lower() for name in answer.headers} & _HEADERS - headers
    assert not undeclared, f"{what} with {undeclared}: declare them"
    is_short = int(answer.headers.get("content-length", LONGEST_BODY)) < LONGEST_BODY
    # The responses are kept, so that an id is of one for ever; failures are the same for many operations.
    if sent == "application/json" and is_short and _compared[id(declared)] < MOST_BODIES:
        _compared[id(declared)] += 1
        await answer.aread()
        schema = {**kinds[sent]["schema"], "components": openapi_document()["components"]}
        Draft202012Validator(schema).validate(answer.json())


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
