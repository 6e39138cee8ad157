"""The filters of the lists of sessions, and of what happened in them."""

from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Table, and_, func, or_, select, true, tuple_, union_all

from oauth.principals import Principal
from resolvers.operations.rows.access import workspaces_of
from resolvers.operations.rows.filters import (
    Filter,
    any_of,
    any_or_none,
    at_or_after,
    before,
    changed_in,
    custom,
    none_of,
)
from schema.file_shares.sessions import CountedSessions, FileShareSessionMetric
from storage.dialects.implied import Implied
from storage.enums import FileShareSessionStatus
from storage.rows.rows import table_of
from storage.tables.metrics.metrics import ExternalPersonRow, PersonMergeRow
from storage.tables.shares.file_share_sessions import FileShareSessionRow
from storage.totals.periods import Span
from storage.types import CodePointText, MomentColumn

_sessions = table_of(FileShareSessionRow)
_externals, _merges = table_of(ExternalPersonRow), table_of(PersonMergeRow)


def report_filters(table: Table, *columns: str) -> dict[str, Filter]:
    """The filters of a list of reports: those that all have, and those by these columns."""
    common = ("workspace_id", "file_share_session_id", "external_id")
    return {
        **subject_filters(table),
        **{name: any_of(table.c[name]) for name in (*common, *columns)},
        "start_date": at_or_after(table.c.at),
        "end_date": before(table.c.at),
        **changed_in(table.c.changed_at if "changed_at" in table.c else table.c.created_at),
    }


def subject_filters(table: Table) -> dict[str, Filter]:
    """The filters by share and by customer or person."""
    return {
        "share_id": any_or_none(table.c.share_id),
        "share_id_not": none_of(table.c.share_id),
        "customer_id": any_or_none(table.c.customer_id),
        "customer_id_not": none_of(table.c.customer_id),
        "external_customer_id": of_external_person(table),
    }


def of_external_person(table: Table) -> Filter:
    """What metrics count as done by the person with an external id, from the persons of rows."""
    same = and_(
        _merges.c.workspace_id == _externals.c.workspace_id, _merges.c.absorbed == _externals.c.person
    )
    person = func.coalesce(_merges.c.into, _externals.c.person).label("person")

    def condition(principal: Principal, external_id: Any) -> ColumnElement[bool]:
        accessible = workspaces_of(principal, None)
        own = (
            select(_externals.c.workspace_id, person)
            .select_from(_externals.outerjoin(_merges, same))
            .where(accessible(_externals.c.workspace_id), _externals.c.external_id == external_id)
            .cte("persons_with_the_id")
        )
        into = and_(_merges.c.workspace_id == own.c.workspace_id, _merges.c.into == own.c.person)
        absorbed = (
            select(_merges.c.workspace_id, _merges.c.absorbed)
            .select_from(_merges.join(own, into))
            .where(accessible(_merges.c.workspace_id))
        )
        persons = union_all(select(own.c.workspace_id, own.c.person), absorbed)
        return tuple_(table.c.workspace_id, table.c.person).in_(persons)

    return custom(condition, lambda sent: [sent], CodePointText(), of_caller=True)


def counted_by_metric() -> Filter:
    """The sessions that a metric counts in a range, as `storage.metrics.definitions` counts their facts."""
    return Filter(_condition, _moments, _types, _form)


def _form(counted: CountedSessions) -> tuple[FileShareSessionMetric, bool, bool]:
    return counted.metric, counted.begins is not None, counted.ends is not None


def _moments(counted: CountedSessions) -> list[Any]:
    return [moment for moment in (counted.begins, counted.ends) if moment is not None]


def _types(form: Any) -> list[Any]:
    _, has_begin, has_end = form
    return [MomentColumn()] * (has_begin + has_end)


def _condition(form: Any) -> Any:
    metric, has_begin, has_end = form

    def condition(*places: BindParameter[Any]) -> ColumnElement[bool]:
        rest = iter(places)
        span = Span(next(rest) if has_begin else None, next(rest) if has_end else None)
        return _CONDITIONS[metric](span)

    return condition


def _created(span: Span) -> ColumnElement[bool]:
    return and_(true(), *span.holds(_sessions.c.created_at))


def _free(span: Span) -> ColumnElement[bool]:
    return and_(func.coalesce(_sessions.c.price_amount, 0) == 0, _created(span))


def _paid(span: Span) -> ColumnElement[bool]:
    return and_(_sessions.c.price_amount > 0, _created(span))


def _converted(span: Span) -> ColumnElement[bool]:
    return and_(_sessions.c.is_converted, _paid(span))


def _active(span: Span) -> ColumnElement[bool]:
    """A state at the end of the range, whenever the session was created."""
    first, ended = _sessions.c.first_download_at, _sessions.c.ended_at
    if span.ends is None:
        return and_(first.is_not(None), ended.is_(None))
    # No download is before its session began, and unlike the first download this moment has an index.
    began = _sessions.c.created_at < span.ends
    return and_(began, first < span.ends, or_(ended.is_(None), ended >= span.ends))


def _completed(span: Span) -> ColumnElement[bool]:
    return _ended(FileShareSessionStatus.COMPLETED, span)


def _expired(span: Span) -> ColumnElement[bool]:
    return _ended(FileShareSessionStatus.EXPIRED, span)


def _ended(status: FileShareSessionStatus, span: Span) -> ColumnElement[bool]:
    # In the order of the list, the search begins with the last session that can have ended in the range.
    began = Implied(and_(true(), *Span(ends=span.ends).holds(_sessions.c.created_at)))
    return and_(_sessions.c.status == status.value, began, *span.holds(_sessions.c.ended_at))


_CONDITIONS = {
    FileShareSessionMetric.FILE_SHARE_SESSIONS: _created,
    FileShareSessionMetric.FILE_SHARE_FREE_SESSIONS: _free,
    FileShareSessionMetric.FILE_SHARE_PAID_SESSIONS: _paid,
    FileShareSessionMetric.FILE_SHARE_ACTIVE_SESSIONS: _active,
    FileShareSessionMetric.FILE_SHARE_COMPLETED_SESSIONS: _completed,
    FileShareSessionMetric.FILE_SHARE_EXPIRED_SESSIONS: _expired,
    FileShareSessionMetric.FILE_SHARE_PAYMENT_CONVERSION: _converted,
}
