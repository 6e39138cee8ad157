"""Calls of an operation over both surfaces, and what a caller learns from each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from graphql import get_named_type
from strawberry.utils.str_converters import to_camel_case

from resolvers.graph.execution.fields import annotations_of
from resolvers.graph.execution.spelling import graphql_name, spelled
from resolvers.operations.declaration import Operation
from rest_compat.api import operation_routes
from rest_compat.routing.endpoint import EMPTY
from schema.metrics.metrics import Metrics
from tests.support.callers.surfaces import Answer, GraphQL, Refused, Rest, from_graphql, places_in, selection

CONNECTION = "edges {{ cursor node{item} }} pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }}"


# Where REST leaves out the members of a customer.
WITHOUT_MEMBERS = {"list_customers", "list_events", "get_event", "create_customer_session"}


@dataclass(frozen=True)
class Outcome:
    """What a caller learns: a value with its headers, or a failure; `connection` only GraphQL has.

    `cost` is what the call was charged.
    """

    value: Any
    etag: str | None = None
    is_replayed: bool = False
    refused: bool = False
    cost: str | None = None
    connection: Any = None


async def over_rest(caller: Rest, operation: Operation, arguments: Mapping[str, Any]) -> Outcome:
    """The outcome over REST, in GraphQL's words if it is a failure."""
    try:
        answer = await caller.ask(operation.name, arguments)
    except Refused as refused:
        return Outcome(_in_graphql(operation, refused), refused=True)
    value = answer.value
    if operation.answer is Metrics:
        value = value | {"metrics": list(value["metrics"].values())}
    return Outcome(value, answer.headers.get("etag"), **_told(answer))


async def over_graphql(
    caller: GraphQL, operation: Operation, arguments: Mapping[str, Any], *, plain: bool = False
) -> Outcome:
    """The outcome over GraphQL, everything selected, spelled as in REST unless it is a failure.

    A plain call selects only what REST gives too.
    """
    type_ = places_in(caller.app.state.schema._schema)[operation.name].field.type
    fields = {} if plain else getattr(get_named_type(type_), "fields", {})
    beside = " etag" if "etag" in fields else ""
    if "edges" in fields:
        beside = " " + CONNECTION.format(item=selection(fields["data"].type))
    try:
        answer = await caller.send(operation.name, arguments, beside)
    except Refused as refused:
        return Outcome(_written(refused), refused=True)
    value, etag, connection = answer.value, None, None
    if "etag" in fields:
        etag = value.pop("etag")
    if "edges" in fields:
        connection = {name: value.pop(name) for name in ("edges", "pageInfo")}
        item = get_named_type(fields["data"].type)
        for edge in connection["edges"]:
            node = _without_more(operation, from_graphql(item, edge["node"]))
            edge["node"] = without(node, "members") if operation.name in WITHOUT_MEMBERS else node
    read = from_graphql(type_, value)
    route = operation_routes()[operation.name]
    if route.served.status in EMPTY and "id" not in arguments:
        # REST answers without a body.
        read = None
    if operation.name in WITHOUT_MEMBERS:
        read = without(read, "members")
    if "meta" in getattr(get_named_type(type_), "fields", {}):
        read["data"] = [_without_more(operation, item) for item in read["data"]]
    return Outcome(read, etag, connection=connection, **_told(answer))


def _told(answer: Answer) -> dict[str, Any]:
    """What the headers of both surfaces say."""
    headers = answer.headers
    return {"is_replayed": "idempotency-replayed" in headers, "cost": headers.get("ratelimit-cost")}


async def over_node(caller: GraphQL, operation: Operation, id: str) -> Any:
    """The resource by its id alone, spelled as in REST."""
    type_ = get_named_type(places_in(caller.app.state.schema._schema)[operation.name].field.type)
    document = f'{{ node(id: "{id}") {{ ... on {type_.name}{selection(type_)} }} }}'
    answer = await caller.client.post("/graphql", json={"query": document}, headers=caller._sent_headers())
    node = from_graphql(type_, answer.json()["data"]["node"])
    return without(node, "members") if operation.name in WITHOUT_MEMBERS else node


async def over_link(
    caller: GraphQL, listed: Operation, parent: str, link: str, id: str, asked: Mapping[str, int]
) -> Any:
    """The page behind a link of one resource, spelled as in REST; `listed` is the list with such pages."""
    type_ = places_in(caller.app.state.schema._schema)[listed.name].field.type
    given = ", ".join(f"{name}: {value}" for name, value in asked.items())
    page = f"{to_camel_case(link)}({given}){selection(type_)}"
    document = f'{{ {to_camel_case(parent)}(id: "{id}") {{ {page} }} }}'
    answer = await caller.client.post("/graphql", json={"query": document}, headers=caller._sent_headers())
    linked = from_graphql(type_, answer.json()["data"][to_camel_case(parent)][to_camel_case(link)])
    return without(linked, "members")


def without(value: Any, name: str) -> Any:
    """The value without this field, at every depth."""
    if isinstance(value, list):
        return [without(item, name) for item in value]
    if isinstance(value, dict):
        return {key: without(item, name) for key, item in value.items() if key != name}
    return value


def _without_more(operation: Operation, item: dict[str, Any]) -> dict[str, Any]:
    """The item without the fields that the list has over GraphQL only."""
    page = operation_routes()[operation.name].served.model
    (model,) = get_args(page.model_fields["data"].annotation)
    return {name: value for name, value in item.items() if name in model.model_fields}


def _written(refused: Refused) -> dict[str, Any]:
    """A failure over GraphQL, without what only its form needs."""
    said = refused.written["extensions"]
    detail = said["detail"]
    if isinstance(detail, list):
        detail = sorted((_plain(entry) for entry in detail), key=str)
    return {"status": said["status"], "code": said["code"], "detail": detail, "more": said.get("more", 0)}


def _in_graphql(operation: Operation, refused: Refused) -> dict[str, Any]:
    """A failure over REST as GraphQL would write it, by the one declaration of spelling."""
    body = refused.written
    detail = body["detail"]
    if isinstance(detail, list):
        annotations = annotations_of(operation)
        entries = [entry | {"loc": _without_place(entry["loc"])} for entry in detail]
        detail = sorted((_plain(_spelled(entry, annotations)) for entry in entries), key=str)
    else:
        detail = spelled({"loc": [], "msg": detail, "type": ""}, {})["msg"]
    return {"status": refused.status, "code": body["error"], "detail": detail, "more": body.get("more", 0)}


def _spelled(entry: dict[str, Any], annotations: Mapping[str, Any]) -> dict[str, Any]:
    """The problem in GraphQL's spelling, also where its sentence names its place."""
    kept = entry["msg"].replace(f"`{graphql_name(entry['loc'])}`", "\0")
    found = spelled(entry | {"msg": kept}, annotations)
    return found | {"msg": found["msg"].replace("\0", f"`{graphql_name(found['loc'])}`")}


def _without_place(loc: list[Any]) -> list[Any]:
    if loc[:1] == ["body"]:
        return ["data", *loc[1:]]
    return loc[1:] if loc[:1] in (["query"], ["path"]) else loc


def _plain(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A problem whose input is a text, as everything in a query of REST is."""
    plain = dict(entry)
    if "input" in plain:
        plain["input"] = str(plain["input"]).lower()
    return plain
