"""The cells of persons as a book: bitmaps are united where sums are added."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice
from uuid import UUID

from pyroaring import BitMap
from sqlalchemy import FromClause, and_, delete, func, select

from storage.engine.connections import Connection
from storage.enums import FactKind
from storage.ledger.books import Ledger, Verification, of_workspace
from storage.metrics.cells.bitmaps import replace_absorbed
from storage.metrics.cells.cells import PERSON_GRAINS
from storage.metrics.cells.merges import merges_of, unfolded_merges
from storage.metrics.cells.period_sql import cell_of
from storage.metrics.cells.person_cells import read_bitmaps, write_bitmaps
from storage.metrics.cells.tiling import CellKey, Grain
from storage.rows.rows import Values, table_of
from storage.tables.metrics.metric_cells import PersonCellRow, PersonMergeDeltaRow
from storage.tables.metrics.metrics import PersonMergeRow

ROWS_AT_A_TIME, BITMAPS_AT_A_TIME = 10_000, 2_000

_cells, _merges = table_of(PersonCellRow), table_of(PersonMergeRow)
_merge_deltas = table_of(PersonMergeDeltaRow)
Bitmaps = Mapping[CellKey, BitMap]


class PersonCells:
    """The persons with an event in each cell of a workspace."""

    async def add(self, connection: Connection, workspace_id: UUID, deltas: Sequence[Values]) -> None:
        quarters: defaultdict[int, BitMap] = defaultdict(BitMap)
        for fact in deltas:
            if fact["kind"] == FactKind.EVENT and fact["person"] is not None:
                quarters[Grain.QUARTER.begins(fact["moment"])].add(fact["person"])
        if not quarters:
            return
        everyone = BitMap.union(*quarters.values())
        merges = await merges_of(connection, workspace_id, everyone)
        for persons in quarters.values() if merges else ():
            replace_absorbed(persons, merges.items())
        added = _in_all_grains(quarters)
        there = await read_bitmaps(connection, workspace_id, list(added))
        await write_bitmaps(connection, workspace_id, _united(there, added))

    async def compare(self, connection: Connection, ledger: Ledger, workspace_id: UUID) -> Verification:
        here = of_workspace(workspace_id)
        expected = await _persons_of(connection, ledger.recount(here), workspace_id)
        waiting = await _persons_of(connection, ledger.waiting(here), workspace_id)
        merges = (await unfolded_merges(connection, [workspace_id])).get(workspace_id, ())
        stored: dict[CellKey, BitMap] = {}
        for row in await connection.execute(select(_cells).where(here(_cells.c.workspace_id))):
            persons = stored[CellKey(Grain(row.grain), row.at)] = BitMap.deserialize(row.persons)
            replace_absorbed(persons, merges)
        kept, empty = _united(stored, waiting), BitMap()
        differing = [
            kept.get(key, empty) != expected.get(key, empty) for key in kept.keys() | expected.keys()
        ]
        return Verification(len(kept), sum(differing))

    async def rebuild(self, connection: Connection, ledger: Ledger, workspace_id: UUID) -> int:
        here = of_workspace(workspace_id)
        for table in (_cells, _merge_deltas):
            await connection.execute(delete(table).where(here(table.c.workspace_id)))
        bitmaps = await _persons_of(connection, ledger.recount(here), workspace_id)
        rows = iter(bitmaps.items())
        while batch := dict(islice(rows, BITMAPS_AT_A_TIME)):
            await write_bitmaps(connection, workspace_id, batch)
        return len(bitmaps)


def _in_all_grains(quarters: Mapping[int, BitMap]) -> Bitmaps:
    """The persons of each cell, from those of quarter hours."""
    cells: defaultdict[CellKey, BitMap] = defaultdict(BitMap)
    for quarter, persons in quarters.items():
        for grain in PERSON_GRAINS:
            cells[CellKey(grain, grain.begins(quarter))] |= persons
    return cells


def _united(some: Bitmaps, others: Bitmaps) -> Bitmaps:
    both = {key: some[key] | others[key] for key in some.keys() & others.keys()}
    return {**some, **others, **both}


async def _persons_of(connection: Connection, facts: FromClause, workspace_id: UUID) -> Bitmaps:
    """The persons with an event in each cell, from rows of facts; merged persons are one."""
    quarter = cell_of(facts.c.moment, Grain.QUARTER).label("quarter")
    events = (facts.c.kind == FactKind.EVENT.value, facts.c.person.is_not(None))
    rows = select(quarter, facts.c.person).where(*events).distinct().subquery()
    merged = and_(_merges.c.workspace_id == workspace_id, _merges.c.absorbed == rows.c.person)
    person = func.coalesce(_merges.c.into, rows.c.person)
    statement = select(rows.c.quarter, person).select_from(rows.outerjoin(_merges, merged))
    quarters: defaultdict[int, BitMap] = defaultdict(BitMap)
    async with connection.stream(statement) as result:
        async for partition in result.partitions(ROWS_AT_A_TIME):
            for begins, number in partition:
                quarters[begins].add(number)
    return _in_all_grains(quarters)
