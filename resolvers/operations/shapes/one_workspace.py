"""Naming the one workspace of a statement in each of its parts, so that a cluster sends it to one node.

It does not follow for a cluster that what belongs to a page's rows is in the page's workspace.
"""

from typing import Any, cast

from sqlalchemy import ColumnElement, FromClause

from oauth.principals import Principal
from storage.workspaces.distribution import COLUMN


class _Columns:
    """The columns of a row, of which that of the workspace is a place."""

    def __init__(self, row: FromClause, place: ColumnElement[Any]) -> None:
        self._columns, self._place = row.c, place

    def __getitem__(self, name: str) -> ColumnElement[Any]:
        return self._place if name == COLUMN else self._columns[name]

    def __getattr__(self, name: str) -> ColumnElement[Any]:
        return self[name]


class _NamedRow:
    """A row to whose columns conditions refer; SQLAlchemy takes it for the row itself."""

    def __init__(self, row: FromClause, place: ColumnElement[Any]) -> None:
        self._row, self.c = row, _Columns(row, place)

    def __clause_element__(self) -> FromClause:
        return self._row


def naming_workspace(row: FromClause, principal: Principal | None) -> FromClause:
    """The row for what belongs to it, which names the principal's one workspace instead of the row's.

    To replace the column in finished statements would copy each as often as others are around it, and would
    reach the rows of a table that is read again further inside.
    """
    place: Any = None if principal is None else principal.one_workspace_id
    if place is None or COLUMN not in row.c:
        return row
    return cast("FromClause", _NamedRow(row, place))
