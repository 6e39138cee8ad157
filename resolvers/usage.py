"""The list of what clients use."""

from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    FromClause,
    Integer,
    MetaData,
    Select,
    String,
    Table,
    cast,
    func,
    select,
)

from oauth.scopes import Scope
from resolvers.credentials.access_tokens import KINDS
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.filters import any_of, custom
from resolvers.operations.rows.lists import Asked, Groups, Listing
from resolvers.operations.rows.lookups import check_workspaces
from resolvers.operations.rows.reading import read_page
from resolvers.operations.shapes.shapes import Computed, Derived, Shape
from schema.credentials.usage import UsageCount, UsageQuery, UsageSorting
from schema.kit.pages import Page
from storage.enums import ClientKind
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_clients import OAuthClientRow
from storage.tables.credentials.usage import UsageRow

_table = table_of(UsageRow)
_clients, _tokens = table_of(OAuthClientRow), table_of(CredentialRow)
_OF = ("workspace_id", "client_kind", "client_id", "surface", "kind", "name")
# The columns of a query, not of a table in the database: a list needs their types and nullability.
_counts = Table(
    "counts",
    MetaData(),
    Column("key", String(), nullable=False, primary_key=True),
    *(Column(name, _table.c[name].type, nullable=False) for name in _OF),
    *(Column(name, _table.c[name].type, nullable=False) for name in ("requests", "last_used_at")),
    Column("is_deprecated", Boolean(), nullable=False),
)


def _counts_of(asked: Asked) -> Select[Any]:
    """The counts of the matching days, added up."""
    key = (cast(_table.c[name], String()) for name in _OF)
    first, *others = key
    text: ColumnElement[str] = first
    for other in others:
        text = text + " " + other
    deprecations = func.max(cast(_table.c.is_deprecated, Integer))
    return (
        select(
            text.label("key"),
            *(_table.c[name] for name in _OF),
            cast(func.sum(_table.c.requests), _table.c.requests.type).label("requests"),
            func.max(_table.c.last_used_at).label("last_used_at"),
            (deprecations == 1).label("is_deprecated"),
        )
        .where(*asked.conditions)
        .group_by(*(_table.c[name] for name in _OF))
    )


def _name_of(row: FromClause) -> ColumnElement[Any]:
    """The name of the OAuth client or the comment of the token."""
    names = (
        select(column).where(column.table.c.id == row.c.client_id).correlate(row).scalar_subquery()
        for column in (_clients.c.name, _tokens.c.comment)
    )
    return func.coalesce(*names)


def _id_of(kind: str, id: str) -> str | None:
    return id if kind in (ClientKind.OAUTH_CLIENT, ClientKind.WORKSPACE_TOKEN) else None


USAGE = Shape(
    UsageCount,
    _counts,
    {
        "client_id": Derived(_id_of, (_counts.c.client_kind, _counts.c.client_id)),
        "client_name": Computed(_name_of),
    },
)
LISTING = Listing(
    UsageRow,
    UsageSorting,
    default="-requests",
    identity=_counts.c.key,
    query=UsageQuery,
    filters={
        **{
            name: any_of(_table.c[name])
            for name in ("workspace_id", "client_id", "surface", "kind", "name", "is_deprecated")
        },
        "start_date": custom(lambda place: _table.c.day >= place, lambda sent: [sent], _table.c.day.type),
        "end_date": custom(lambda place: _table.c.day <= place, lambda sent: [sent], _table.c.day.type),
    },
    groups=Groups(_counts, _counts_of),
)


@requires(Scope.OAUTH_CLIENTS_READ, kinds=KINDS)
async def list_usage(ctx: Context, filters: UsageQuery) -> Page[UsageCount]:
    """Lists what the clients of workspaces used of both surfaces, most used first unless sorted otherwise.

    Each request counts once for each operation, field, argument and input field that it uses. A user sees the
    workspaces that they own. Days are in UTC and kept for 400 days.
    """
    await check_workspaces(ctx, filters.workspace_id)
    return await read_page(ctx, LISTING, USAGE, filters)
