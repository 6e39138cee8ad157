"""The requests of the targets: the same question to the floor, to REST and to GraphQL."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import orjson
from pydantic import BaseModel
from strawberry.utils.str_converters import to_camel_case

from bench.kit.documents import DOCUMENTS, Document
from bench.kit.wrk import Request
from schema.customers.customers import Customer
from schema.kit.pages import PageMeta, Pagination
from schema.shares.shares import Share
from storage.metrics.definitions import METRICS

# Only answers with a single file have the state of its upload.
_NOT_IN_LISTS = {"upload"}
ENCODINGS = ("zstd", "gzip")
EVENTS = orjson.dumps({"events": [{"name": f"bench.{number}"} for number in range(100)]}).decode()
NEW_CUSTOMER = '{"email": "bench-NUMBER@example.com", "name": "Bench"}'


@dataclass(frozen=True)
class Case:
    """A request to the floor and to the gateway, and the least ratio of their processor times.

    One that `is_guarded` is measured again with limits, access log and request ids.
    """

    name: str
    floor: Request
    ours: Request
    target: float | None
    is_read: bool = True
    is_guarded: bool = False


def selection(model: type[BaseModel]) -> str:
    """The GraphQL selection of all that REST answers for the model."""
    chosen = []
    for name, field in model.model_fields.items():
        if name not in _NOT_IN_LISTS:
            nested = next(models_in(field.annotation), None)
            inner = f" {selection(nested)}" if nested else ""
            chosen.append(to_camel_case(name) + inner)
    return "{ " + " ".join(chosen) + " }"


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in an annotation such as `list[Price] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)


def document_of_shares() -> str:
    page = f"data {selection(Share)} meta {selection(PageMeta)} pagination {selection(Pagination)}"
    return f"{{ shares(limit: 10) {{ {page} }} }}"


def document_of_customer(customer_id: str) -> str:
    return f'{{ customer(id: "{customer_id}") {selection(Customer)} }}'


def graphql(document: str, **variables: Any) -> Request:
    body = {"query": document, **({"variables": variables} if variables else {})}
    return Request("POST", "/graphql", orjson.dumps(body).decode())


def cases(customer_id: str, session_id: str) -> list[Case]:
    health = Request("GET", "/health")
    shares = Request("GET", "/api/shares/?limit=10")
    customer = Request("GET", f"/api/customers/{customer_id}")
    events = Request("GET", "/api/events/?limit=10")
    new = Request("POST", "/api/customers/", NEW_CUSTOMER)
    ingest = Request("POST", "/api/events/ingest", EVENTS)
    of_shares = graphql(document_of_shares())
    of_customer = graphql(document_of_customer(customer_id))
    by_variable = graphql(f"query($id: ID!) {{ customer(id: $id) {selection(Customer)} }}", id=customer_id)
    return [
        Case("`/health`", health, health, 0.7),
        Case("REST: list of 10 shares", shares, shares, 0.9, is_guarded=True),
        Case("REST: one customer", customer, customer, 0.9, is_guarded=True),
        Case("REST: list of 10 events", events, events, 0.9, is_guarded=True),
        *(
            Case(f"REST: list of 10 events, as {name}", events, packed(events, name), None)
            for name in ENCODINGS
        ),
        Case("GraphQL: list of 10 shares", shares, of_shares, 0.9, is_guarded=True),
        Case("GraphQL: one customer", customer, of_customer, 0.9, is_guarded=True),
        Case("GraphQL: one customer, by a variable", customer, by_variable, None),
        *(_of_document(each, session_id) for each in DOCUMENTS),
        Case("REST: create a customer", new, new, 0.65, is_read=False),
        *(Case(name, new, request, None, is_read=False) for name, request in creating_by_graphql()),
        Case("REST: ingest 100 events", ingest, ingest, 0.8, is_read=False),
    ]


def metrics_requests() -> Iterator[tuple[str, Request]]:
    """One metric and all of them up to today, over both surfaces."""
    end, one = datetime.now(UTC).date(), "file_share_sessions"
    for days, name, asked in (
        (51, "one metric of 51 days", [one]),
        (51, "all metrics of 51 days", [metric.slug for metric in METRICS]),
        (365, "one metric of a year by day", [one]),
    ):
        start = end - timedelta(days=days - 1)
        chosen = "" if len(asked) == len(METRICS) else "".join(f"&metrics={slug}" for slug in asked)
        path = f"/api/metrics/?start_date={start}&end_date={end}&interval=day{chosen}"
        yield f"REST: {name}", Request("GET", path)
        fields = " ".join(map(to_camel_case, asked))
        enums = "" if not chosen else f", metrics: [{one.upper()}]"
        yield (
            f"GraphQL: {name}",
            graphql(
                f'{{ metrics(startDate: "{start}", endDate: "{end}", interval: DAY{enums}) '
                f"{{ currency periods {{ timestamp {fields} }} totals {{ {fields} }} }} }}"
            ),
        )


def packed(request: Request, encoding: str) -> Request:
    """The same request of a client that takes a compressed answer."""
    return replace(request, headers={**request.headers, "Accept-Encoding": encoding})


def creating_by_graphql() -> Iterator[tuple[str, Request]]:
    """Creating a customer by a variable and by literals, without and with a link."""
    fields = "id createdAt email name workspaceId members { id email role }"
    literal = '{email: "bench-NUMBER@example.com", name: "Bench"}'
    for link, more in (("", ""), (", with a link", " workspace { id name }")):
        selected = f"{{ {fields}{more} }}"
        by_variable = f"mutation($data: CustomerCreate!) {{ createCustomer(data: $data) {selected} }}"
        yield f"GraphQL: create a customer{link}", graphql(by_variable, data=orjson.loads(NEW_CUSTOMER))
        by_literals = f"mutation {{ createCustomer(data: {literal}) {selected} }}"
        yield f"GraphQL: create a customer by literals{link}", graphql(by_literals)


def _of_document(document: Document, session_id: str) -> Case:
    variables = {"id": session_id} if "$id" in document.text else {}
    floor = Request("GET", document.path.replace("ID", session_id))
    # Limits, log lines and request ids cost as much as for other reads.
    return Case(document.name, floor, graphql(document.text, **variables), document.target, is_guarded=False)


def by_floor(cases: Iterable[Case]) -> list[tuple[Request, list[Case]]]:
    """Each request of the floor, with the cases that are compared with it."""
    by_path: dict[str, list[Case]] = {}
    for case in cases:
        by_path.setdefault(case.floor.path, []).append(case)
    return [(same[0].floor, same) for same in by_path.values()]


def guarded(case: Case) -> Case:
    """The same read of a gateway with limits, access log and request ids."""
    return replace(case, name=f"{case.name}, guarded", target=0.75)
