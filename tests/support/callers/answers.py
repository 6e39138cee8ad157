"""The examples of answers in the OpenAPI document, taken from a gateway where they are not as declared."""

import asyncio
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema_rs

from oauth.principals import PrincipalKind
from rest_compat.openapi.answers import ANSWERS_FILE, answers
from rest_compat.openapi.document import openapi_document
from rest_compat.routing.paths import PREFIX
from tests.support.callers.further_answers import further_answers
from tests.support.callers.reference import Reader, reading

JSON = "application/json"
LONGEST_LIST = 3
LONGEST_TEXT = 300
# Nobody can use what an example shows, nor does a scanner for secrets take it for one.
SECRETS = {
    re.compile(r"\b(dg_[a-z]+_|whsec_)[\w+/=-]{16,}"): r"\1example",
    re.compile(r"(https?://[^?\s]+\?)\S+"): r"\1signature=example",
    re.compile(r"http://gateway\b"): "https://duograph.example.com",
    re.compile(r"\b[\w-]{60,}\.[\w-]{43}\b"): "eyJleGFtcGxlIjoxfQ.example",
    re.compile(r"\b(eyJ[\w-]+\.){2}[\w-]+"): "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIuLi4ifQ.example",
    # The workspaces of tests.
    re.compile(r"\bw-[0-9a-f]{32}\b"): "my-studio",
}


def faults_of_answers() -> dict[str, str]:
    """What is wrong with the example of each answer, by its name."""
    known, faults = answers(), {}
    for name, schema in _schemas():
        if name not in known:
            faults[name] = "There is no example: run `make generated`"
            continue
        validator = jsonschema_rs.validator_for(schema | {"components": _strict_components()})
        error = next(validator.iter_errors(known[name]), None)
        if error is not None:
            faults[name] = f"{error}: run `make generated`"
    names = {name for name, _ in _schemas()}
    return faults | {name: "Nothing is answered with it" for name in known if name not in names}


def _schemas() -> Iterator[tuple[str, Any]]:
    """The schema of each answer, by the name of its operation or of the response that operations share."""
    document = openapi_document()
    for operations in document["paths"].values():
        for operation in operations.values():
            succeeds = next(each for status, each in operation["responses"].items() if status < "300")
            for body in succeeds.get("content", {}).values():
                yield operation["operationId"], body["schema"]
    for name, response in document["components"]["responses"].items():
        for body in response.get("content", {}).values():
            if name not in UNFORESEEN:
                yield name, body["schema"]


@cache
def _strict_components() -> Any:
    """The schemas of the document, which refuse what they do not name."""
    return {
        "schemas": {name: _strict(each) for name, each in openapi_document()["components"]["schemas"].items()}
    }


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {key: _strict(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema:
        strict["additionalProperties"] = False
    return strict


def shortened(value: Any) -> Any:
    """The answer without secrets, with the first of the objects of each list."""
    if isinstance(value, dict):
        return {name: shortened(each) for name, each in value.items()}
    if isinstance(value, list):
        most = 1 if value and isinstance(value[0], dict) else LONGEST_LIST
        return [shortened(each) for each in value[:most]]
    if isinstance(value, str):
        for pattern, example in SECRETS.items():
            value = pattern.sub(example, value)
        return value[:LONGEST_TEXT]
    return value


# What no request brings about while the gateway and its database work.
UNFORESEEN = {"Internal", "Unavailable"}
# A request that fails with each of these, by the names of the responses.
FAILURES: dict[str, dict[str, Any]] = {
    "Unauthorized": {"headers": {"Authorization": "Bearer dg_wat_unknown"}},
    "NotFound": {"path": "/customers/external/nobody"},
    "Invalid": {"params": {"lim": "1"}},
    "PreconditionFailed": {"method": "PATCH", "json": {"name": "Ada"}, "headers": {"If-Match": '"older"'}},
    "UnsupportedMediaType": {"method": "POST", "json": {}, "headers": {"Content-Encoding": "gzip"}},
    "Forbidden": {"path": "/customer-portal/customer"},
}


async def failed(reader: Reader) -> dict[str, Any]:
    """The bodies of failures."""
    token = {"Authorization": f"Bearer {reader.tokens[PrincipalKind.WORKSPACE_TOKEN]}"}
    bodies = {}
    for name, sent in FAILURES.items():
        path = sent.get("path", "/customers/" + (await reader.team() if name == "PreconditionFailed" else ""))
        rest = {key: value for key, value in sent.items() if key in ("params", "json", "content")}
        headers = token | sent.get("headers", {})
        answer = await reader.gateway.client.request(
            sent.get("method", "GET"), PREFIX + path, headers=headers, **rest
        )
        bodies[name] = answer.json()
    return bodies


async def write_answers() -> None:
    """Take the examples that are missing or out of date from a gateway, and leave the others as they are."""
    faults = faults_of_answers()
    if not faults:
        return
    with TemporaryDirectory() as folder:
        async with reading(Path(folder)) as reader:
            found = await failed(reader)
            failures = await reader.try_all()
            if failures:
                raise RuntimeError("\n".join(failures))
            found |= reader.answers | await further_answers(Path(folder))
    examples = answers() | {name: shortened(found[name]) for name in faults if name in found}
    kept = {name: examples[name] for name, _ in _schemas() if name in examples}
    text = json.dumps(kept, indent=1, sort_keys=True, ensure_ascii=False)
    ANSWERS_FILE.write_text(f"{text}\n")
    answers.cache_clear()
    if faults := faults_of_answers():
        raise RuntimeError(f"These answers are not what is declared: {faults}")


if __name__ == "__main__":
    asyncio.run(write_answers())
