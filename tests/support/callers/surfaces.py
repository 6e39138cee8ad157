"""The two ways in, with one vocabulary, so that a case is written once.

`await surface.create_share(data={...})` calls the operation by its resolver's name over REST or over
GraphQL and gives the same Python values for both; a failure raises `Refused`, the same for both too.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Any
from urllib.parse import quote

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    get_named_type,
)
from httpx import AsyncClient, Response
from strawberry.utils.str_converters import to_camel_case, to_snake_case

from gateway.web.kit.cookies import SESSION
from oauth.credentials import Credential
from resolvers.graph.root import exposed
from resolvers.operations.declaration import Operation
from rest_compat.api import documented_routes, operation_routes
from rest_compat.routing.reading import path_names_of
from rest_compat.routing.router import OperationRoute
from storage.metrics.definitions import BY_SLUG


class Refused(Exception):
    """The surface answered with a failure."""

    def __init__(self, status: int, code: str, detail: Any, more: int = 0, written: Any = None) -> None:
        super().__init__(f"{code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail
        self.more = more
        # The failure as the surface wrote it.
        self.written = written

    @property
    def problems(self) -> dict[tuple[Any, ...], str]:
        """Where and of what type the problems are; places are the same for both surfaces."""
        return {tuple(entry["loc"]): entry["type"] for entry in self.detail}


@dataclass(frozen=True)
class Answer:
    """The value of an operation with the HTTP headers it came with."""

    value: Any
    headers: Mapping[str, str]


@dataclass
class Surface(ABC):
    """One caller: a client with a credential. `name` is `rest` or `graphql`."""

    client: AsyncClient
    app: Any
    token: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        async def call(**arguments: Any) -> Any:
            return (await self.ask(name, arguments)).value

        return call

    def with_token(self, token: str | None) -> "Surface":
        return type(self)(self.client, self.app, token, dict(self.headers))

    def with_headers(self, **headers: str) -> "Surface":
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return type(self)(self.client, self.app, self.token, {**self.headers, **sent})

    def in_browser(self, session: Credential) -> "Surface":
        """The same surface for a page of ours in a browser with this session."""
        cookie = f"{SESSION}={session.text}"
        return self.with_token(None).with_headers(cookie=cookie, sec_fetch_site="same-origin")

    @abstractmethod
    async def ask(self, operation: str, arguments: Mapping[str, Any]) -> Answer:
        """Call an operation by its resolver's name. Raises `Refused`."""

    def _sent_headers(self) -> dict[str, str]:
        credential = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return {**self.headers, **credential}


class Rest(Surface):
    name = "rest"

    async def ask(self, operation: str, arguments: Mapping[str, Any]) -> Answer:
        route = _route_for(operation, arguments)
        method, path = route.method, route.path_format
        left = dict(arguments)
        headers = self._sent_headers()
        if (etag := left.pop("if_match", None)) is not None:
            headers["If-Match"] = etag
        body = {"json": left.pop("data")} if "data" in left else {}
        for name in list(left):
            if f"{{{name}}}" in path:
                path = path.replace(f"{{{name}}}", quote(str(left.pop(name)), safe=""))
        answer = await self.client.request(method, path, params=_query(left), headers=headers, **body)
        return Answer(self._read(route.operation, answer, arguments), answer.headers)

    def _read(self, operation: Operation, answer: Response, arguments: Mapping[str, Any]) -> Any:
        if answer.is_success:
            return answer.json() if answer.content else arguments.get("id")
        body = answer.json()
        detail = body["detail"]
        if isinstance(detail, list):
            detail = [entry | {"loc": _after(entry["loc"], {"path", "query", "body"})} for entry in detail]
        raise Refused(answer.status_code, body["error"], detail, body.get("more", 0), body)


class GraphQL(Surface):
    name = "graphql"

    async def ask(self, operation: str, arguments: Mapping[str, Any]) -> Answer:
        answer = await self.send(operation, arguments)
        definition = places_in(self.app.state.schema._schema)[operation].field
        return Answer(from_graphql(definition.type, answer.value), answer.headers)

    async def send(self, operation: str, arguments: Mapping[str, Any], beside: str = "") -> Answer:
        """Call the operation; gives the field as GraphQL writes it, with the fields `beside` its data."""
        place = places_in(self.app.state.schema._schema)[operation]
        definition = place.field
        variables, declared, given = {}, [], []
        for argument, value in arguments.items():
            camel = to_camel_case(argument)
            if camel in definition.args:
                variables[camel] = to_graphql(definition.args[camel].type, value)
                declared.append(f"${camel}: {definition.args[camel].type}")
            else:
                variables[camel] = value
                declared.append(f"${camel}: String")
            given.append(f"{camel}: ${camel}")
        head = f"({', '.join(declared)})" if declared else ""
        call = f"({', '.join(given)})" if given else ""
        below = selection(definition.type, _unasked(arguments))
        below = f"{below[:-1]}{beside} }}" if beside else below
        asked = f"{' { '.join(place.path)}{call}{below}{' }' * len(place.path)}"
        document = f"{place.kind}{head} {{ {asked}"
        answer = await self.client.post(
            "/graphql", json={"query": document, "variables": variables}, headers=self._sent_headers()
        )
        return Answer(self._read(place.path, answer.json()), answer.headers)

    def _read(self, path: Iterable[str], body: dict[str, Any]) -> Any:
        if body.get("errors"):
            written = joined(body["errors"])
            said = written["extensions"]
            detail = said["detail"]
            if isinstance(detail, list):
                detail = [entry | {"loc": _after(entry["loc"], {"data"})} for entry in detail]
            raise Refused(said["status"], said["code"], detail, said.get("more", 0), written)
        value = body["data"]
        for name in path:
            value = value[name]
        return value


def joined(errors: list[dict[str, Any]]) -> dict[str, Any]:
    """The first error with the problems of all, of which each is an error of its own."""
    first, *others = [error["extensions"] for error in errors]
    detail, more = first["detail"], first.get("more", 0)
    if isinstance(detail, list):
        detail = [entry for said in (first, *others) for entry in said["detail"]]
        more += sum(said.get("more", 0) for said in others)
    counted = {"more": more} if more else {}
    return {**errors[0], "extensions": {**first, "detail": detail, **counted}}


# To look for them takes longer than most calls.
places_in = cache(exposed)


def _route_for(operation: str, arguments: Mapping[str, Any]) -> OperationRoute:
    """The operation's route; where it has several, the one whose path takes the arguments."""
    for route in documented_routes():
        if route.operation.name == operation and path_names_of(route.path) <= arguments.keys():
            return route
    return operation_routes()[operation]


def selection(type_: Any, left_out: Collection[str] = ()) -> str:
    """All data fields of a type, at every depth, but these of metrics; links are left out."""
    named = get_named_type(type_)
    if not isinstance(named, GraphQLObjectType):
        return ""
    hidden = left_out if named.name in {"MetricPeriod", "MetricTotals"} else ()
    fields = {name: field for name, field in _data_fields(named).items() if name not in hidden}
    return f" {{ {' '.join(f'{name}{selection(f.type, left_out)}' for name, f in fields.items())} }}"


def _unasked(arguments: Mapping[str, Any]) -> set[str]:
    """The fields of metrics that are not asked for, which must not be selected."""
    asked = arguments.get("metrics")
    return set() if asked is None else {to_camel_case(slug) for slug in BY_SLUG if slug not in asked}


def to_graphql(type_: Any, value: Any) -> Any:
    """A REST value as a GraphQL variable: camelCase names, enums by name; what does not fit stays."""
    if isinstance(type_, GraphQLNonNull):
        return to_graphql(type_.of_type, value)
    if isinstance(type_, GraphQLList):
        return [to_graphql(type_.of_type, item) for item in value] if isinstance(value, list) else value
    if isinstance(type_, GraphQLInputObjectType) and isinstance(value, dict):
        return {
            to_camel_case(key): to_graphql(type_.fields[to_camel_case(key)].type, item)
            if to_camel_case(key) in type_.fields
            else item
            for key, item in value.items()
        }
    if isinstance(type_, GraphQLEnumType):
        plain = value.value if isinstance(value, Enum) else value
        return next((name for name, v in type_.values.items() if _plain(v.value) == plain), plain)
    return value


def from_graphql(type_: Any, value: Any) -> Any:
    """A GraphQL answer as REST writes it."""
    if isinstance(type_, GraphQLNonNull):
        return from_graphql(type_.of_type, value)
    if value is None:
        return None
    if isinstance(type_, GraphQLList):
        return [from_graphql(type_.of_type, item) for item in value]
    if isinstance(type_, GraphQLEnumType):
        return _plain(type_.values[value].value)
    if isinstance(type_, GraphQLObjectType):
        model = type_.extensions["strawberry-definition"].origin
        read = {
            to_snake_case(name): from_graphql(type_.fields[name].type, item) for name, item in value.items()
        }
        return {
            name: item
            for name, item in read.items()
            if item is not None or model.model_fields[name].exclude_if is None
        }
    return value


def _data_fields(type_: GraphQLObjectType) -> dict[str, Any]:
    model = type_.extensions["strawberry-definition"].origin
    names = {to_camel_case(name) for name in model.model_fields}
    return {name: f for name, f in type_.fields.items() if name in names}


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


def _query(arguments: Mapping[str, Any]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for name, value in arguments.items():
        if name == "metadata":
            pairs += [(f"metadata[{pair['key']}]", pair["value"]) for pair in value]
        elif value is not None:
            for item in value if isinstance(value, list) else [value]:
                plain = _plain(item)
                pairs.append((name, str(plain).lower() if isinstance(plain, bool) else str(plain)))
    return pairs


def _after(loc: list[Any], places: set[str]) -> list[Any]:
    rest = loc[1:] if loc and loc[0] in places else loc
    return [to_snake_case(part) if isinstance(part, str) else part for part in rest]
