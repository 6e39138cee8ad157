"""The shape of events."""

from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, and_, func, select

from resolvers.customers.shapes import CUSTOMER_WITHOUT_MEMBERS
from resolvers.operations.shapes.shapes import Counted, Derived, Part, Shape
from schema.events.events import LABELS, Event
from schema.events.ingestion import COST_DIGITS
from storage.rows.rows import table_of
from storage.tables.customers.customers import CustomerRow
from storage.tables.events.events import EventRow

_events, _customers = table_of(EventRow), table_of(CustomerRow)


def label(name: str) -> str:
    """A title for the service's own events, else the name."""
    return LABELS.get(name, name)


def cost(amount: int | None, parts: int | None, currency: str | None) -> dict[str, str] | None:
    """The cost with its exact amount: whole minor units and 10^-12 parts."""
    if currency is None:
        return None
    decimals = f"{parts or 0:0{COST_DIGITS}}".rstrip("0")
    return {"amount": f"{amount}.{decimals}" if decimals else str(amount), "currency": currency}


def _customer_of(event: FromClause) -> Select[Any]:
    # Deleted customers too: their events still show them.
    same = and_(_customers.c.workspace_id == event.c.workspace_id, _customers.c.id == event.c.customer_id)
    return select(_customers).where(same)


def _child_count(event: FromClause) -> ColumnElement[Any]:
    children = _events.alias("children")
    own = and_(children.c.workspace_id == event.c.workspace_id, children.c.parent_id == event.c.id)
    return select(func.count()).select_from(children).where(own).correlate(event).scalar_subquery()


EVENT = Shape(
    Event,
    _events,
    {
        "cost": Derived(cost, (_events.c.cost_amount, _events.c.cost_parts, _events.c.cost_currency)),
        "label": Derived(label, (_events.c.name,)),
        "customer": Part(CUSTOMER_WITHOUT_MEMBERS, _customer_of, many=False),
        "child_count": Counted(_child_count),
    },
)
