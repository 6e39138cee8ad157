"""Which blocks of a workspace have packs that can be read."""

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any
from uuid import UUID
from zlib import crc32

from sqlalchemy import Select, Uuid, bindparam, select

from storage.dialects.number_lists import numbers_named
from storage.engine.connections import Connection
from storage.metrics.cells.blocks import BLOCK
from storage.metrics.cells.cells import ACTIVITY, MONEY
from storage.metrics.packs.packed_columns import NAMES
from storage.rows.fast_rows import driver_rows
from storage.rows.rows import table_of
from storage.tables.metrics.metric_packs import MetricPackRow

# Counted up when a layout changes. Packs with other columns, or of a machine with another byte order, are
# not read either.
_LAYOUT = 1
FORMAT = crc32(repr((_LAYOUT, sys.byteorder, NAMES[ACTIVITY], NAMES[MONEY])).encode())

_packs = table_of(MetricPackRow)
_PACKED = (
    select(_packs.c.at)
    .where(_packs.c.workspace_id == bindparam("workspace_id", type_=Uuid()), _packs.c.format == FORMAT)
    .order_by(_packs.c.at)
)


async def packed_blocks(connection: Connection, workspace_id: UUID) -> list[int]:
    """The beginnings of the blocks of which the workspace has packs, ascending."""
    rows = await driver_rows(connection, _PACKED, {"workspace_id": workspace_id})
    return [at for (at,) in rows]


@cache
def columns_of_packs(dialect: str, *names: str) -> Select[Any]:
    """The beginning and these columns of the packs of a `workspace_id` at the `blocks`."""
    blocks = select(numbers_named(dialect, "blocks").c.value)
    own = _packs.c.workspace_id == bindparam("workspace_id", type_=Uuid()), _packs.c.at.in_(blocks)
    return select(_packs.c.at, *(_packs.c[name] for name in names)).where(*own)


def gaps(begins: int, ends: int, blocks: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The times between two moments that are in none of these blocks, which ascend."""
    for at in blocks:
        if begins < at < ends:
            yield begins, at
        if at < ends:
            begins = max(begins, at + BLOCK)
    if begins < ends:
        yield begins, ends
