"""The list of events, and the loaders of links to them."""

from typing import Any

from sqlalchemy import ColumnElement, or_, select

from oauth.principals import Principal
from resolvers.events.shapes import EVENT
from resolvers.operations.rows.access import visible
from resolvers.operations.rows.filters import (
    any_of,
    any_or_none,
    at_or_after,
    before,
    changed_in,
    custom,
    metadata_pairs,
    none_of,
)
from resolvers.operations.rows.links import ToMany, ToOne
from resolvers.operations.rows.lists import Listing
from resolvers.shares.shapes import SHARE
from schema.events.events import EventQuery, EventSorting
from storage.rows.rows import table_of
from storage.tables.customers.customers import CustomerRow
from storage.tables.events.events import EventRow
from storage.tables.shares.shares import ShareRow
from storage.types import CodePointText

_events, _customers = table_of(EventRow), table_of(CustomerRow)


def _of_external_customer(principal: Principal, external_id: Any) -> ColumnElement[bool]:
    """Events ingested with the external id, and events of the customer that has it now."""
    same = _customers.c.external_id == external_id
    customer_ids = select(_customers.c.id).where(visible(CustomerRow, principal), same)
    return or_(_events.c.external_customer_id == external_id, _events.c.customer_id.in_(customer_ids))


LISTING = Listing(
    EventRow,
    EventSorting,
    default="-timestamp",
    columns={"modified_at": _events.c.created_at},
    replica=True,
    query=EventQuery,
    filters={
        **changed_in(_events.c.created_at),
        "workspace_id": any_of(_events.c.workspace_id),
        "customer_id": any_or_none(_events.c.customer_id),
        "customer_id_not": none_of(_events.c.customer_id),
        "external_customer_id": custom(
            _of_external_customer, lambda sent: [sent], CodePointText(), of_caller=True
        ),
        "name": any_of(_events.c.name),
        "name_not": none_of(_events.c.name),
        "source": any_of(_events.c.source),
        "parent_id": any_of(_events.c.parent_id),
        "external_id": any_of(_events.c.external_id),
        "share_id": any_or_none(_events.c.share_id),
        "share_id_not": none_of(_events.c.share_id),
        "currency": any_of(_events.c.cost_currency),
        "start_date": at_or_after(_events.c.timestamp),
        "end_date": before(_events.c.timestamp),
        "start_timestamp": at_or_after(_events.c.timestamp),
        "end_timestamp": before(_events.c.timestamp),
        "metadata": metadata_pairs(_events.c.metadata),
    },
)
SHARE_OF_EVENT = ToOne(ShareRow, SHARE, "share_id")
PARENT = ToOne(EventRow, EVENT, "parent_id", replica=True)
EVENTS_OF_CUSTOMER = ToMany(
    LISTING,
    EVENT,
    "customer_id",
    lambda key, limit, page: EventQuery(customer_id=[key], limit=limit, page=page),
)
CHILDREN = ToMany(
    LISTING, EVENT, "parent_id", lambda key, limit, page: EventQuery(parent_id=key, limit=limit, page=page)
)
