"""From facts to cells: which columns each kind of fact adds to, and adding up facts in memory."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from operator import add
from typing import Any
from uuid import UUID

from pyroaring import BitMap
from sqlalchemy import Table

from storage.enums import FactKind
from storage.metrics.cells.tiling import CellKey, Grain
from storage.metrics.sums import SUMMED, CellColumn, FactSum
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import NO_SHARE, ActivityCellRow, MoneyCellRow

ACTIVITY, MONEY = table_of(ActivityCellRow), table_of(MoneyCellRow)
WORKSPACE_GRAINS = (Grain.DAY, Grain.FOUR_HOURS, Grain.HOUR, Grain.QUARTER)
# Bitmaps of persons are united, not added up, which takes longer the more cells there are.
PERSON_GRAINS = (Grain.EIGHT_DAYS, *WORKSPACE_GRAINS)
# A quarter hour of one share rarely holds more than one fact.
SHARE_GRAINS = (Grain.DAY, Grain.FOUR_HOURS, Grain.HOUR)

ColumnsByKind = Mapping[FactKind, list[CellColumn]]
# A row of the log, or of the deltas.
LoggedFact = Mapping[Any, Any]


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


def sums_of(table: Table) -> list[str]:
    """The columns that hold a cell's sums; those of its key come before them."""
    return [column.name for column in table.c if not column.primary_key]


def _places_in(table: Table, columns: ColumnsByKind) -> dict[str, list[tuple[int, CellColumn]]]:
    """Where among the sums each kind of fact, as the log names it, adds which column."""
    places = {name: place for place, name in enumerate(sums_of(table))}
    return {kind.value: [(places[column.name], column) for column in columns[kind]] for kind in columns}


# A share or `NO_SHARE`, followed by a currency in cells of money.
_Owner = tuple[Any, ...]
_NO_SUMS = {table: [0] * len(sums_of(table)) for table in (ACTIVITY, MONEY)}
_PLACES = {
    ACTIVITY: _places_in(ACTIVITY, ACTIVITY_COLUMNS),
    MONEY: _places_in(MONEY, MONEY_COLUMNS),
}


class Cells:
    """The cells of one workspace that some facts add up to."""

    def __init__(self, workspace_id: UUID) -> None:
        self.workspace_id = workspace_id
        # The sums by the beginning of a quarter hour, and by owner.
        self._quarters: dict[Table, defaultdict[int, dict[_Owner, list[int]]]] = {
            table: defaultdict(dict) for table in _PLACES
        }
        self._persons: defaultdict[int, set[int]] = defaultdict(set)

    def add(self, facts: Iterable[LoggedFact]) -> None:
        """Add rows of the log; `persons` applies merges later."""
        for fact in facts:
            quarter = Grain.QUARTER.begins(fact["moment"])
            self._add(ACTIVITY, fact, quarter)
            if fact["currency"] is not None:
                self._add(MONEY, fact, quarter, fact["currency"])
            if fact["kind"] == FactKind.EVENT and fact["person"] is not None:
                self._persons[quarter].add(fact["person"])

    def _add(self, table: Table, fact: LoggedFact, quarter: int, *currency: str) -> None:
        places = _PLACES[table][fact["kind"]]
        if not places:
            return
        added = [(place, column.part_of(fact[column.column])) for place, column in places]
        owners = self._quarters[table][quarter]
        for share_id in (NO_SHARE,) if fact["share_id"] is None else (NO_SHARE, fact["share_id"]):
            owner = share_id, *currency
            sums = owners.get(owner)
            if sums is None:
                sums = owners[owner] = _NO_SUMS[table].copy()
            for place, value in added:
                sums[place] += value

    def rows(self, table: Table) -> list[tuple[Any, ...]]:
        """The cells of `ACTIVITY` or `MONEY` in every grain, with the columns of the table."""
        cells: dict[tuple[Any, ...], list[int]] = {}
        for quarter, owners in self._quarters[table].items():
            begins = {grain: grain.begins(quarter) for grain in WORKSPACE_GRAINS}
            for owner, sums in owners.items():
                for grain in WORKSPACE_GRAINS if owner[0] == NO_SHARE else SHARE_GRAINS:
                    key = *owner, grain.value, begins[grain]
                    others = cells.get(key)
                    cells[key] = sums if others is None else list(map(add, others, sums))
        return [(self.workspace_id, *key, *sums) for key, sums in cells.items()]

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
