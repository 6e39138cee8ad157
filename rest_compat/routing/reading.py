"""Reads a REST request as the arguments of an operation, which its own models validate."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from starlette.datastructures import QueryParams
from starlette.requests import Request

from resolvers.operations.bodies import parse_json, read_body
from resolvers.operations.declaration import Operation
from rest_compat.routing.causes import explain
from rest_compat.routing.used import RouteUsage
from schema.errors import AnswerTooLarge, Invalid, problem
from schema.kit.annotations import is_list
from schema.kit.base import SPARE_KEYS
from schema.kit.parameters import Parameter
from schema.kit.problems import name_of, named
from storage.caches import Cache
from storage.usage.usage import Used

EXPAND = "expand"
_PARTS = frozenset({"path", "query", "body", "header"})
_METADATA = re.compile(r"metadata\[(.*)\]", re.DOTALL)

# What is kept of one query and its path, with what readers work out from it for callers of two kinds, takes
# less than this, measured with tracemalloc. Each pair of metadata is an object.
BYTES_OF_ARGUMENTS, BYTES_OF_A_PARAMETER, BYTES_OF_A_LETTER = 3_000, 1_000, 12
LONGEST_KEPT = 1_000
BYTES_KEPT = 4 * 1024 * 1024
# The arguments, and what is counted as used.
Read: TypeAlias = tuple[Mapping[str, Any], Used | None]
_kept: Cache[tuple[Any, ...], Read] = Cache(BYTES_KEPT)


def kept_bytes() -> int:
    """The memory that kept arguments take, as estimated."""
    return _kept.size


class Arguments:
    """Reads the validated arguments of one operation from requests to one path.

    Those of an operation without a body are kept by the text of the query and the path's values. They are
    shared between requests: their models are frozen, and no resolver changes a list in them.
    """

    def __init__(
        self, operation: Operation, path_names: frozenset[str], usage: RouteUsage, is_expandable: bool
    ) -> None:
        self._operation = operation
        self._is_expandable = is_expandable
        self._usage = usage
        self._path_names = path_names
        self._has_body = any(parameter.place == "data" for parameter in operation.parameters)
        # No query has them by name.
        self._unnamed = path_names | {each.name for each in operation.parameters if each.place == "data"}
        fields = operation.filters.model_fields if operation.filters else {}
        self._lists = frozenset(name for name, field in fields.items() if is_list(field.annotation))

    async def read(self, request: Request) -> Read:
        """Raises `Invalid` with every problem, or `TooLarge`."""
        values = {**request.path_params}
        if self._has_body:
            values |= read_query(self._operation, request.query_params, self._path_names)
            arguments = self._validated(values | {"data": await self._body(request)}, request.query_params)
            return arguments, self._usage.of(request.query_params, arguments["data"])
        query: bytes = request.scope["query_string"]
        key = (self._usage.place, query, *values.items())
        kept = _kept.get(key)
        if kept is None:
            values |= read_query(self._operation, self._own(request.query_params), self._path_names)
            kept = self._validated(values, request.query_params), self._usage.of(request.query_params)
            length = len(query) + sum(map(len, request.path_params.values()))
            if length <= LONGEST_KEPT:
                _kept.keep(key, kept, _size(query.count(b"=") + len(request.path_params), length))
        return kept

    def _own(self, params: QueryParams) -> QueryParams:
        """The parameters of the operation itself: `expand` chooses what is answered of what it reads."""
        if not self._is_expandable or EXPAND not in params:
            return params
        return QueryParams([pair for pair in params.multi_items() if pair[0] != EXPAND])

    async def _body(self, request: Request) -> Any:
        try:
            # An empty body counts as an empty object, so that missing fields are named.
            return parse_json(await read_body(request, self._operation.largest_body) or b"{}")
        except Invalid as invalid:
            raise located(self._operation, invalid, self._path_names) from None

    def _validated(self, values: Mapping[str, Any], params: QueryParams) -> Mapping[str, Any]:
        try:
            return self._operation.validate(values, reads_back=True, unnamed=self._unnamed)
        except Invalid as invalid:
            explained = Invalid(
                [explain(entry, params, self._lists) for entry in invalid.problems], invalid.more
            )
            raise located(self._operation, explained, self._path_names) from None


def _size(parameters: int, letters: int) -> int:
    return BYTES_OF_ARGUMENTS + BYTES_OF_A_PARAMETER * parameters + BYTES_OF_A_LETTER * letters


def read_query(operation: Operation, params: QueryParams, path_names: frozenset[str]) -> dict[str, Any]:
    """The query parameters by parameter of the resolver; unknown ones stay, to be refused by name.

    Raises `Invalid` if there are too many.
    """
    values: dict[str, Any] = {}
    known: set[str] = set()
    grouped = _grouped(operation, params)
    for parameter in operation.parameters:
        if parameter.place == "filters":
            values[parameter.name] = _read_filters(parameter, grouped)
            known |= set(params)
        elif parameter.place == "value" and parameter.name not in path_names and parameter.name in params:
            values[parameter.name] = params[parameter.name]
            known.add(parameter.name)
    unknown = set(params) - known
    return values | {f"?{name}": params[name] for name in unknown}


def located(operation: Operation, invalid: Invalid, path_names: frozenset[str]) -> Invalid:
    """The same problems, which name their place; each `loc` begins with `path`, `query` or `body`."""
    if isinstance(invalid, AnswerTooLarge):
        return invalid
    places = {parameter.name: parameter.place for parameter in operation.parameters}
    problems = []
    for entry in invalid.problems:
        first, *rest = entry["loc"] or [""]
        place = places.get(str(first))
        if place == "filters":
            loc = ["query", *rest]
        elif place == "data":
            loc = ["body", *rest]
        elif first == "if_match":
            loc = ["header", "If-Match"]
        elif str(first).startswith("?"):
            loc = ["query", str(first)[1:], *rest]
        elif place == "value":
            loc = ["path" if first in path_names else "query", first, *rest]
        else:
            loc = [first, *rest]
        whole = "The body" if loc[0] == "body" else "The request"
        problems.append(named(entry | {"loc": loc}, rest_name(loc), whole))
    return Invalid(problems, invalid.more)


def rest_name(loc: Sequence[str | int]) -> str:
    """The name of a place, without the part of the request that has it."""
    return name_of(loc[1:] if loc and loc[0] in _PARTS else loc)


def _grouped(operation: Operation, params: QueryParams) -> dict[str, list[str]]:
    """The values of each parameter, in order. Raises `Invalid` if there are too many parameters."""
    grouped: dict[str, list[str]] = {}
    for name, value in params.multi_items():
        grouped.setdefault(name, []).append(value)
    filters = operation.filters.model_fields if operation.filters else {}
    most = len(operation.parameters) + len(filters) + SPARE_KEYS
    pairs = sum(name.startswith("metadata[") for name in grouped) if "metadata" in filters else 0
    if len(grouped) - pairs > most:
        message = f"A query should have at most {most} different parameters, not {len(grouped) - pairs}"
        raise Invalid([problem(("query",), message, "too_many_fields")])
    return grouped


def _read_filters(parameter: Parameter, grouped: dict[str, list[str]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, texts in grouped.items():
        field = parameter.annotation.model_fields.get(name)
        pair = _METADATA.fullmatch(name)
        if pair and "metadata" in parameter.annotation.model_fields:
            # The model refuses several values for one key.
            value: Any = texts[0] if len(texts) == 1 else texts
            values.setdefault("metadata", []).append({"key": pair[1], "value": value})
        elif name == "metadata" or field is None or not is_list(field.annotation):
            values[name] = texts[0] if len(texts) == 1 else texts
        else:
            values[name] = texts
    return values


def path_names_of(path: str) -> frozenset[str]:
    """The parameters in a route's path."""
    return frozenset(re.findall(r"\{(\w+)(?::\w+)?\}", path))
