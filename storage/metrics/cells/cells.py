"""From facts to cells: which columns each kind of fact adds to, and adding up rows of facts in memory."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from pyroaring import BitMap
from sqlalchemy import Table

from storage.enums import FactKind
from storage.metrics.cells.tiling import Grain
from storage.metrics.sums import SUMMED, Part, Term
from storage.rows import Values, table_of
from storage.tables.metric_cells import NO_SHARE, ActivityCellRow, MoneyCellRow

ACTIVITY, MONEY = table_of(ActivityCellRow), table_of(MoneyCellRow)
WORKSPACE_GRAINS = (Grain.DAY, Grain.FOUR_HOURS, Grain.HOUR, Grain.QUARTER)
# Persons are not added up but united, which takes longer the more cells there are of them.
PERSON_GRAINS = (Grain.EIGHT_DAYS, *WORKSPACE_GRAINS)
# Of one share a quarter hour holds hardly more than a fact.
SHARE_GRAINS = (Grain.DAY, Grain.FOUR_HOURS, Grain.HOUR)

Parts = Mapping[FactKind, list[Part]]
# A row of the log.
Fact = Mapping[Any, Any]
# A share or `NO_SHARE`, a currency or none, and where the cell begins.
_Key = tuple[UUID, str | None, int]


def _parts_in(table: Table) -> Parts:
    parts = [part for kind in FactKind for column in SUMMED for part in Term(kind, column).parts]
    return {kind: [part for part in parts if part.kind is kind and part.name in table.c] for kind in FactKind}


ACTIVITY_PARTS, MONEY_PARTS = _parts_in(ACTIVITY), _parts_in(MONEY)


class Cells:
    """The cells of one workspace that some facts make."""

    def __init__(self, workspace_id: UUID) -> None:
        self.workspace_id = workspace_id
        self._finest: dict[Table, dict[_Key, Values]] = {ACTIVITY: {}, MONEY: {}}
        self._persons: defaultdict[int, set[int]] = defaultdict(set)

    def add(self, facts: Iterable[Fact]) -> None:
        """Add rows of the log; a person who was merged counts as whoever the row says."""
        for fact in facts:
            kind = FactKind(fact["kind"])
            quarter = Grain.QUARTER.begins(fact["moment"])
            self._add(ACTIVITY, ACTIVITY_PARTS[kind], fact, None, quarter)
            if fact["currency"] is not None:
                self._add(MONEY, MONEY_PARTS[kind], fact, fact["currency"], quarter)
            if kind is FactKind.EVENT and fact["person"] is not None:
                self._persons[quarter].add(fact["person"])

    def _add(self, table: Table, parts: list[Part], fact: Fact, currency: str | None, quarter: int) -> None:
        if not parts:
            return
        added = [(part.name, part.of(fact[part.column])) for part in parts]
        shares = [NO_SHARE] if fact["share_id"] is None else [NO_SHARE, fact["share_id"]]
        for share_id in shares:
            cell = self._finest[table].setdefault((share_id, currency, quarter), {})
            for name, value in added:
                cell[name] = cell.get(name, 0) + value

    def rows(self, table: Table) -> list[Values]:
        """The cells of `ACTIVITY` or `MONEY` in every grain."""
        summed: dict[tuple[Grain, _Key], Values] = {}
        for (share_id, currency, quarter), cell in self._finest[table].items():
            for grain in WORKSPACE_GRAINS if share_id == NO_SHARE else SHARE_GRAINS:
                key = grain, (share_id, currency, grain.begins(quarter))
                into = summed.setdefault(key, {})
                for name, value in cell.items():
                    into[name] = into.get(name, 0) + value
        return [self._row(table, *key, cell) for key, cell in summed.items()]

    def _row(self, table: Table, grain: Grain, key: _Key, cell: Values) -> Values:
        share_id, currency, at = key
        row: Values = dict.fromkeys(table.c.keys(), 0) | cell
        row |= {"workspace_id": self.workspace_id, "share_id": share_id, "grain": grain.value, "at": at}
        return row if currency is None else row | {"currency": currency}

    def persons(self, merges: Mapping[int, int]) -> dict[tuple[Grain, int], BitMap]:
        """The persons of each cell, and in the place of absorbed ones whom they were merged into."""
        found: defaultdict[tuple[Grain, int], BitMap] = defaultdict(BitMap)
        for quarter, persons in self._persons.items():
            numbers = {merges.get(person, person) for person in persons}
            for grain in PERSON_GRAINS:
                found[grain, grain.begins(quarter)].update(numbers)
        return found

    @property
    def numbers(self) -> set[int]:
        """The persons of all cells."""
        return set().union(*self._persons.values())
