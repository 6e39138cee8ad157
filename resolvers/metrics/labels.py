"""The names of groups for people."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from sqlalchemy import func, select

from oauth.scopes import Scope
from storage.engine.connections import Connection
from storage.metrics.grouping.groups import REST, AnyKey, Grouping
from storage.rows.rows import table_of
from storage.tables.customers.customers import CustomerRow
from storage.tables.shares.shares import ShareRow

# The scope that a caller needs to see the keys of the groups.
SCOPES = {
    Grouping.SHARE: Scope.SHARES_READ,
    Grouping.CUSTOMER: Scope.CUSTOMERS_READ,
    Grouping.EVENT_NAME: Scope.EVENTS_READ,
}
_WITHOUT = {
    Grouping.SHARE: "No share",
    Grouping.CUSTOMER: "No customer",
    Grouping.CURRENCY: "No currency",
    Grouping.EVENT_NAME: "No event name",
}
_REST = "Other"
_shares, _customers = table_of(ShareRow), table_of(CustomerRow)
_NAMES = {
    Grouping.SHARE: (_shares, _shares.c.name),
    Grouping.CUSTOMER: (_customers, func.coalesce(_customers.c.name, _customers.c.email)),
}


async def labels_of(
    connection: Connection | None, workspace_ids: Sequence[UUID], grouping: Grouping, keys: Iterable[AnyKey]
) -> Mapping[AnyKey, str]:
    """The label of each key; an id that has no row in the workspaces is its own label.

    Without a connection, every id is.
    """
    labels: dict[AnyKey, str] = {}
    ids = []
    for key in keys:
        if isinstance(key, UUID):
            labels[key] = str(key)
            ids.append(key)
        elif key is REST:
            labels[key] = _REST
        elif key is None:
            labels[key] = _WITHOUT[grouping]
        else:
            labels[key] = str(key).upper() if grouping is Grouping.CURRENCY else str(key)
    if ids and connection is not None:
        table, name = _NAMES[grouping]
        own = table.c.workspace_id.in_(workspace_ids), table.c.id.in_(ids)
        rows = await connection.execute(select(table.c.id, name.label("name")).where(*own))
        labels |= {row.id: row.name for row in rows if row.name}
    return labels
