"""The pages of events."""

from decimal import Decimal

from gateway.web.records.kit import choices
from gateway.web.records.kit.cells import NOTHING, Cell, Column, Shown
from gateway.web.records.kit.fields import Words
from gateway.web.records.kit.records import Records, Related
from gateway.web.records.sessions import FILTER_WORDS
from resolvers.events.events import get_event, list_events
from schema.events.events import Event
from storage.changes.kinds import ChangeKind


def _customer(event: Event, shown: Shown) -> Cell:
    """The customer, who can be deleted: then there is no page of it."""
    if event.customer is None:
        return NOTHING
    name = event.customer.name or event.customer.email
    if event.customer.deleted_at is not None:
        return Cell("text", f"{name} (deleted)")
    return Cell("link", name, f"{shown.base}/customers/{event.customer_id}")


def _cost(event: Event, _: Shown) -> Cell:
    if event.cost is None:
        return NOTHING
    # Costs are finer than amounts: a call may cost a thousandth of a cent.
    exact = Decimal(event.cost.amount).scaleb(-event.cost.currency.exponent)
    return Cell("figure", f"{exact:f} {event.cost.currency.upper()}")


EVENTS = Records(
    area="Events",
    path="events",
    one="event",
    many="events",
    about="What happened in Duograph and in your own systems, newest first.",
    empty="Send events with the API: they appear here as they arrive.",
    model=Event,
    find=list_events,
    get=get_event,
    called=lambda event: str(event.label),
    columns=(
        Column("timestamp", "Time"),
        Column("label", "Event"),
        Column("customer_id", draw=_customer),
        Column("source"),
        Column("metadata"),
    ),
    facts={
        "timestamp": Column("timestamp", "Time"),
        "customer_id": Column("customer_id", draw=_customer),
        "cost": Column("cost", "Cost", _cost),
        "child_count": Column("child_count", "Child events"),
        "parent_id": Column("parent_id", "Parent event"),
    },
    hidden=frozenset({"customer", "label"}),
    main_filters=("name", "source", "start_date", "end_date"),
    filter_words={
        **FILTER_WORDS,
        "name": Words("Event", hint=""),
        "source": Words(hint=""),
        "customer_id": Words("Customer", hint=""),
        "external_customer_id": Words(hint=""),
        "parent_id": Words("Parent event ID", hint=""),
        "metadata": Words(hint="A key with the value that it has."),
    },
    filter_choices={"name": choices.event_names, "share_id": choices.shares},
    without_filters=frozenset({"start_timestamp", "end_timestamp"}),
    related=(Related("events", "parent_id", "Child events", only_if_any=True),),
    live=(ChangeKind.EVENTS_INGESTED, ChangeKind.CUSTOMER_CREATED),
)
