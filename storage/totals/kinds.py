"""Kinds of rows that have quotas: how many a workspace has and their bytes, and what a transaction adds."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import BigInteger, ScalarSelect, Table, Uuid, bindparam, cast, func, select
from sqlmodel import SQLModel

from storage.engine.connections import Connection
from storage.engine.statements.kept import Kept
from storage.ledger.recording import recorded
from storage.tables.base import table_of
from storage.tables.registry import COUNTED_MODELS
from storage.tables.shares.files import StorageUsageRow
from storage.tables.workspaces.totals import ListTotalDeltaRow, ListTotalRow
from storage.totals.lists import LISTS, size_name

# By the names of their lists, which are those of their tables.
KINDS: Mapping[str, str] = {
    table_of(model).name: table_of(model).name.removeprefix("file_share_") for model in COUNTED_MODELS
}
# Kinds of which the bytes of texts and metadata have a quota too.
MEASURED_KINDS = tuple(KINDS[table_of(model).name] for model in COUNTED_MODELS if model.measured)
_SIZE = ":bytes"
_SIZES = {size_name(model): KINDS[table_of(model).name] + _SIZE for model in COUNTED_MODELS if model.measured}
_AMOUNTS = {**KINDS, **_SIZES}
_LISTS = {amount: name for name, amount in _AMOUNTS.items()}


def bytes_of(kind: str) -> str:
    """The name of the bytes of a kind, which have quotas like the kind itself."""
    return kind + _SIZE


def measured_kind(amount: str) -> str | None:
    """The kind whose bytes these are; None for a number of rows."""
    return amount.removesuffix(_SIZE) if amount.endswith(_SIZE) else None


def growth(connection: Connection) -> dict[tuple[UUID, str], int]:
    """How many rows of each kind, and bytes, the transaction has added to each workspace so far."""
    grown = {}
    for (workspace_id, name, value), (many,) in recorded(connection, LISTS):
        if many > 0 and not value and name in _AMOUNTS:
            grown[workspace_id, _AMOUNTS[name]] = many
    return grown


async def usage_of_kind(
    connection: Connection, workspace_id: UUID, kind: str
) -> tuple[int, Mapping[str, int]]:
    """How many rows of the kind, or bytes, the workspace has, but for those that it adds now; its quotas."""
    values = {"home": workspace_id, "kind": _LISTS[kind]}
    ((kept, waiting, quotas),) = await connection.rows(_USAGE, values)
    return kept + waiting, quotas or {}


def _number(model: type[SQLModel]) -> ScalarSelect[int]:
    table: Table = table_of(model)
    own = (table.c.workspace_id == _HOME, table.c.list == bindparam("kind"), table.c.value == "")
    # PostgreSQL's sum of big integers is numeric.
    total = cast(func.coalesce(func.sum(table.c.total), 0), BigInteger)
    return select(total).where(*own).scalar_subquery()


_HOME = bindparam("home", type_=Uuid())
_stored = table_of(StorageUsageRow)
_QUOTAS = select(_stored.c.row_quotas).where(_stored.c.workspace_id == _HOME).scalar_subquery()
_USAGE = Kept(select(_number(ListTotalRow), _number(ListTotalDeltaRow), _QUOTAS))
