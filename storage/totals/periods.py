"""The number of events in a span of time: totals of whole days and hours, plus a count of what is left."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, func, select

from storage.dialects.extremes import greatest, least
from storage.dialects.periods import Period, begins, next_begins
from storage.ledger.books import Workspaces
from storage.tables.base import table_of
from storage.tables.events.event_counts import ALL_NAMES, EventCountRow, EventDeltaRow
from storage.tables.events.events import EventRow

# A moment as a value or as a place in a statement.
Moment = ColumnElement[Any]

_events, _counts, _deltas = table_of(EventRow), table_of(EventCountRow), table_of(EventDeltaRow)


@dataclass(frozen=True)
class Span:
    """The time from `begins` up to, but not including, `ends`; a side without a moment is open."""

    begins: Moment | None = None
    ends: Moment | None = None

    def holds(self, column: ColumnElement[Any]) -> list[ColumnElement[bool]]:
        """The conditions that the column's moments are in the span."""
        sides = []
        if self.begins is not None:
            sides.append(column >= self.begins)
        if self.ends is not None:
            sides.append(column < self.ends)
        return sides

    def whole(self, period: Period) -> "Span":
        """The span that contains the beginning of each period that lies wholly in this span."""
        return Span(self.begins, None if self.ends is None else begins(period, self.ends))

    def edges(self, period: Period) -> Iterator["Span"]:
        """The parts of this span outside its whole periods: at most one at each end."""
        first = None if self.begins is None else next_begins(period, self.begins)
        last = None if self.ends is None else begins(period, self.ends)
        if first is not None:
            yield Span(self.begins, first if self.ends is None else least(first, self.ends))
        if last is not None:
            yield Span(last if first is None else greatest(last, first), self.ends)


def numbers_in(
    span: Span, names: list[ColumnElement[str]] | None, workspaces: Workspaces
) -> list[Select[Any]]:
    """Queries for numbers of events, each behind its workspace.

    Their sum is the number in the span, of all names or of `names`.
    """

    def of_names(table: Table) -> list[ColumnElement[bool]]:
        return [workspaces(table.c.workspace_id), *([] if names is None else [table.c.name.in_(names)])]

    def kept(period: Period, spans: Iterator[Span] | list[Span]) -> Iterator[Select[Any]]:
        is_all = _counts.c.name == ALL_NAMES
        # A caller may ask for the name that no event has.
        name = is_all if names is None else _counts.c.name.in_(names) & ~is_all
        for each in spans:
            yield select(_counts.c.workspace_id, _counts.c.occurrences).where(
                workspaces(_counts.c.workspace_id),
                name,
                _counts.c.period == period.value,
                *each.holds(_counts.c.begins),
            )

    hours = span.whole(Period.HOUR)
    return [
        *kept(Period.DAY, [hours.whole(Period.DAY)]),
        *kept(Period.HOUR, hours.edges(Period.DAY)),
        select(_deltas.c.workspace_id, _deltas.c.occurrences).where(
            *of_names(_deltas), *hours.holds(_deltas.c.hour)
        ),
        *(
            select(_events.c.workspace_id, func.count())
            .where(*of_names(_events), *edge.holds(_events.c.timestamp))
            .group_by(_events.c.workspace_id)
            for edge in span.edges(Period.HOUR)
        ),
    ]
