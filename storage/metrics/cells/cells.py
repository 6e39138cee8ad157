"""From facts to cells: which columns each kind of fact adds to, and adding up facts in memory."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from pyroaring import BitMap
from sqlalchemy import Table

from storage.enums import FactKind
from storage.metrics.cells.tiling import CellKey, Grain
from storage.metrics.sums import SUMMED, CellColumn, FactSum
from storage.rows import Values, table_of
from storage.tables.metric_cells import NO_SHARE, ActivityCellRow, MoneyCellRow

ACTIVITY, MONEY = table_of(ActivityCellRow), table_of(MoneyCellRow)
WORKSPACE_GRAINS = (Grain.DAY, Grain.FOUR_HOURS, Grain.HOUR, Grain.QUARTER)
# Bitmaps of persons are united, not added up, which takes longer the more cells there are.
PERSON_GRAINS = (Grain.EIGHT_DAYS, *WORKSPACE_GRAINS)
# A quarter hour of one share rarely holds more than one fact.
SHARE_GRAINS = (Grain.DAY, Grain.FOUR_HOURS, Grain.HOUR)

ColumnsByKind = Mapping[FactKind, list[CellColumn]]
# A row of the log, or of the deltas.
LoggedFact = Mapping[Any, Any]


class _Place(NamedTuple):
    """Where a fact is counted: a share or `NO_SHARE`, a currency or none, and the beginning of a cell."""

    share_id: UUID
    currency: str | None
    at: int


def _columns_in(table: Table) -> ColumnsByKind:
    return {
        kind: [
            column
            for summed in SUMMED
            for column in FactSum(kind, summed).cell_columns
            if column.name in table.c
        ]
        for kind in FactKind
    }


ACTIVITY_COLUMNS, MONEY_COLUMNS = _columns_in(ACTIVITY), _columns_in(MONEY)


class Cells:
    """The cells of one workspace that some facts add up to."""

    def __init__(self, workspace_id: UUID) -> None:
        self.workspace_id = workspace_id
        self._finest: dict[Table, dict[_Place, Values]] = {ACTIVITY: {}, MONEY: {}}
        self._persons: defaultdict[int, set[int]] = defaultdict(set)

    def add(self, facts: Iterable[LoggedFact]) -> None:
        """Add rows of the log; `persons` applies merges later."""
        for fact in facts:
            kind = FactKind(fact["kind"])
            quarter = Grain.QUARTER.begins(fact["moment"])
            self._add(ACTIVITY, ACTIVITY_COLUMNS[kind], fact, None, quarter)
            if fact["currency"] is not None:
                self._add(MONEY, MONEY_COLUMNS[kind], fact, fact["currency"], quarter)
            if kind is FactKind.EVENT and fact["person"] is not None:
                self._persons[quarter].add(fact["person"])

    def _add(
        self, table: Table, columns: list[CellColumn], fact: LoggedFact, currency: str | None, quarter: int
    ) -> None:
        if not columns:
            return
        added = [(column.name, column.part_of(fact[column.column])) for column in columns]
        shares = [NO_SHARE] if fact["share_id"] is None else [NO_SHARE, fact["share_id"]]
        for share_id in shares:
            cell = self._finest[table].setdefault(_Place(share_id, currency, quarter), {})
            for name, value in added:
                cell[name] = cell.get(name, 0) + value

    def rows(self, table: Table) -> list[Values]:
        """The cells of `ACTIVITY` or `MONEY` in every grain."""
        cells: dict[tuple[Grain, _Place], Values] = {}
        for place, quarter in self._finest[table].items():
            for grain in WORKSPACE_GRAINS if place.share_id == NO_SHARE else SHARE_GRAINS:
                coarser = _Place(place.share_id, place.currency, grain.begins(place.at))
                cell = cells.setdefault((grain, coarser), {})
                for name, value in quarter.items():
                    cell[name] = cell.get(name, 0) + value
        return [self._row(table, grain, place, cell) for (grain, place), cell in cells.items()]

    def _row(self, table: Table, grain: Grain, place: _Place, cell: Values) -> Values:
        row: Values = dict.fromkeys(table.c.keys(), 0) | cell
        row |= {
            "workspace_id": self.workspace_id,
            "share_id": place.share_id,
            "grain": grain.value,
            "at": place.at,
        }
        return row if place.currency is None else row | {"currency": place.currency}

    def persons(self, merges: Mapping[int, int]) -> dict[CellKey, BitMap]:
        """The persons of each cell; `merges` maps absorbed persons to those they were merged into."""
        bitmaps: defaultdict[CellKey, BitMap] = defaultdict(BitMap)
        for quarter, persons in self._persons.items():
            numbers = {merges.get(person, person) for person in persons}
            for grain in PERSON_GRAINS:
                bitmaps[CellKey(grain, grain.begins(quarter))].update(numbers)
        return bitmaps

    @property
    def numbers(self) -> set[int]:
        """The persons of all cells."""
        return set().union(*self._persons.values())
