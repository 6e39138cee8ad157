"""Naming the one workspace of a statement in each of its parts, so that a cluster sends it to one node.

It does not follow for a cluster that what belongs to a page's rows is in the page's workspace.
"""

from typing import Any

from sqlalchemy import ColumnElement, FromClause
from sqlalchemy.sql.visitors import replacement_traverse

from oauth.principals import Principal
from storage.workspaces.distribution import COLUMN


def naming_workspace(
    cell: ColumnElement[Any], row: FromClause, principal: Principal | None
) -> ColumnElement[Any]:
    """The cell of a row, whose subqueries name the principal's one workspace instead of the row's."""
    place: Any = None if principal is None else principal.one_workspace_id
    if place is None or COLUMN not in row.c:
        return cell
    of_row = row.c[COLUMN]

    def named(element: Any, **_: Any) -> Any:
        return place if element is of_row else None

    naming: ColumnElement[Any] = replacement_traverse(cell, {}, named)
    return naming
