"""The groups of each kind."""

from storage.engine.connections import Connection
from storage.metrics.grouping.customers import CustomerGroups
from storage.metrics.grouping.event_names import EventNameGroups
from storage.metrics.grouping.groups import Grouping, Groups
from storage.metrics.grouping.shares import ShareGroups
from storage.metrics.reading.reader import Selection

_KINDS: dict[Grouping, type[ShareGroups | CustomerGroups | EventNameGroups]] = {
    Grouping.SHARE: ShareGroups,
    Grouping.CUSTOMER: CustomerGroups,
    Grouping.EVENT_NAME: EventNameGroups,
}


def make_groups(connection: Connection, selection: Selection, grouping: Grouping) -> Groups:
    """The groups of a selection, except those by currency, which are made of whole answers."""
    return _KINDS[grouping](connection, selection)
