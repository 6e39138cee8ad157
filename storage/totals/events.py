"""The names of events, with how often and when they occurred, and the number of events by hour and day."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from sqlalchemy import FromClause, case, func, literal, select, true, union_all

from storage.dialects.periods import Period, begins, hour_of
from storage.ledger.books import Combination, Key, Ledger, Row, Workspaces
from storage.ledger.totals import Totals
from storage.tables.base import Values, table_of
from storage.tables.events.event_counts import ALL_NAMES, EventCountRow, EventDeltaRow
from storage.tables.events.event_names import EventNameRow
from storage.tables.events.events import EventRow
from storage.types import CodePointText

_COUNTED = itemgetter("workspace_id", "name", "source", "timestamp")
_COMBINATIONS = {
    # A name has one source: ingestion refuses the names of the service's own events.
    "source": Combination.LEAST,
    "first_seen": Combination.LEAST,
    "last_seen": Combination.GREATEST,
}


def events_of(rows: Sequence[Values], by: int) -> Iterator[tuple[Key, Row]]:
    """What new rows of events change. Raises `ValueError` for deleted ones."""
    if by < 0:
        raise ValueError("Events are never deleted: first and last ones would have to be found again.")
    for workspace_id, name, source, moment in map(_COUNTED, rows):
        yield (workspace_id, name, hour_of(moment)), (str(source), by, moment, moment)


def _recounted(workspaces: Workspaces) -> FromClause:
    table = table_of(EventRow)
    hour = begins(Period.HOUR, table.c.timestamp)
    return (
        select(
            table.c.workspace_id,
            table.c.name,
            hour.label("hour"),
            func.min(table.c.source).label("source"),
            func.count().label("occurrences"),
            func.min(table.c.timestamp).label("first_seen"),
            func.max(table.c.timestamp).label("last_seen"),
        )
        .where(workspaces(table.c.workspace_id))
        .group_by(table.c.workspace_id, table.c.name, hour)
        .cte("counted")
    )


def _in_all_periods(deltas: FromClause) -> FromClause:
    """Rows of `event_counts`: of the hour and of the day, and of the name and of all names."""
    kinds = union_all(
        *(
            select(literal(period.value).label("period"), literal(name, CodePointText()).label("name"))
            for period in Period
            for name in (None, ALL_NAMES)
        )
    ).subquery("kinds")
    day = begins(Period.DAY, deltas.c.hour)
    beginning = case((kinds.c.period == Period.DAY.value, day), else_=deltas.c.hour)
    rows = select(
        deltas.c.workspace_id,
        func.coalesce(kinds.c.name, deltas.c.name).label("name"),
        kinds.c.period,
        beginning.label("begins"),
        deltas.c.occurrences,
    )
    return rows.join_from(deltas, kinds, true()).subquery("in_all_periods")


def _rows_in_all_periods(deltas: Iterable[Values]) -> Iterator[Row]:
    counts: Counter[Key] = Counter()
    for delta in deltas:
        hour = delta["hour"]
        for period, beginning in ((Period.HOUR, hour), (Period.DAY, hour.replace(hour=0))):
            for name in (delta["name"], ALL_NAMES):
                counts[delta["workspace_id"], name, period, beginning] += delta["occurrences"]
    return ((*key, many) for key, many in counts.items())


EVENT_NAMES = Totals(table_of(EventNameRow), _COMBINATIONS, is_coarse=True)
EVENT_COUNTS = Totals(table_of(EventCountRow), {}, _in_all_periods, _rows_in_all_periods, is_coarse=True)
EVENTS = Ledger(table_of(EventDeltaRow), _recounted, (EVENT_NAMES, EVENT_COUNTS), _COMBINATIONS, at_once=True)
