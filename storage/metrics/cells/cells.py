"""From facts to cells of sums: which columns each kind of fact adds to, in memory and in SQL."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from operator import add
from typing import Any

from sqlalchemy import BigInteger, FromClause, Integer, Select, Table, cast, func, literal, select, union_all

from storage.enums import FactKind
from storage.ledger.books import TIMES, Row
from storage.ledger.totals import Totals
from storage.metrics.cells.period_sql import cell_of
from storage.metrics.cells.tiling import Grain
from storage.metrics.sums import SUMMED, CellColumn, FactSum
from storage.rows.rows import Values, table_of
from storage.tables.metrics.metric_cells import NO_SHARE, ActivityCellRow, MoneyCellRow

ACTIVITY, MONEY = table_of(ActivityCellRow), table_of(MoneyCellRow)
WORKSPACE_GRAINS = (Grain.DAY, Grain.FOUR_HOURS, Grain.HOUR, Grain.QUARTER)
# Bitmaps of persons are united, not added up, which takes longer the more cells there are.
PERSON_GRAINS = (Grain.EIGHT_DAYS, *WORKSPACE_GRAINS)
# A quarter hour of one share rarely holds more than one fact.
SHARE_GRAINS = (Grain.DAY, Grain.FOUR_HOURS, Grain.HOUR)


def _columns_in(table: Table) -> Mapping[FactKind, list[CellColumn]]:
    return {
        kind: [
            column
            for summed in SUMMED
            for column in FactSum(kind, summed).cell_columns
            if column.name in table.c
        ]
        for kind in FactKind
    }


_COLUMNS = {table: _columns_in(table) for table in (ACTIVITY, MONEY)}


def keys_of(table: Table) -> list[str]:
    """The columns of a cell's key, in the order of the table."""
    return [column.name for column in table.primary_key.columns]


def sums_of(table: Table) -> list[str]:
    """The columns that hold a cell's sums; those of its key come before them."""
    return [column.name for column in table.c if not column.primary_key]


@cache
def _places_in(table: Table) -> dict[str, list[tuple[int, CellColumn]]]:
    """Where among the sums each kind of fact, as the log names it, adds which column."""
    places = {name: place for place, name in enumerate(sums_of(table))}
    return {
        kind.value: [(places[column.name], column) for column in columns]
        for kind, columns in _COLUMNS[table].items()
    }


def _by_quarter(table: Table, facts: Sequence[Values]) -> Mapping[int, Mapping[Row, list[int]]]:
    """The sums by quarter hour, and by owner: a share or `NO_SHARE`, and a currency of money."""
    places, none = _places_in(table), [0] * len(sums_of(table))
    quarters: defaultdict[int, dict[Row, list[int]]] = defaultdict(dict)
    for fact in facts:
        currency = (fact["currency"],) if table is MONEY else ()
        columns = () if None in currency else places[fact["kind"]]
        if not columns:
            continue
        times = fact.get(TIMES, 1)
        added = [(place, column.part_of(fact[column.column]) * times) for place, column in columns]
        owners = quarters[Grain.QUARTER.begins(fact["moment"])]
        for share_id in (NO_SHARE,) if fact["share_id"] is None else (NO_SHARE, fact["share_id"]):
            owner = share_id, *currency
            sums = owners.get(owner)
            if sums is None:
                sums = owners[owner] = none.copy()
            for place, value in added:
                sums[place] += value
    return quarters


def _rows_of(table: Table, facts: Sequence[Values]) -> Iterator[Row]:
    """Cells of all grains, from facts of one workspace."""
    # Python hashes an id slowly: the cells of an owner are apart.
    cells: defaultdict[Row, dict[tuple[int, int], list[int]]] = defaultdict(dict)
    for quarter, owners in _by_quarter(table, facts).items():
        begins = [(grain.value, grain.begins(quarter)) for grain in WORKSPACE_GRAINS]
        for owner, sums in owners.items():
            own = cells[owner]
            for key in begins if owner[0] == NO_SHARE else begins[: len(SHARE_GRAINS)]:
                there = own.get(key)
                own[key] = sums if there is None else list(map(add, there, sums))
    for owner, own in cells.items():
        for key, sums in own.items():
            yield (facts[0]["workspace_id"], *owner, *key, *sums)


def _spread(table: Table, facts: FromClause) -> FromClause:
    """Cells of all grains: the finest from facts, coarse ones from finer ones."""
    levels = []
    for by_share, grains in ((False, WORKSPACE_GRAINS), (True, SHARE_GRAINS)):
        rows = _added(table, facts, by_share=by_share)
        for grain in reversed(grains):
            rows = _grouped(table, rows, grain).cte()
            levels.append(select(*(rows.c[name] for name in (*keys_of(table), *sums_of(table)))))
    return union_all(*levels).subquery()


def _added(table: Table, facts: FromClause, *, by_share: bool) -> FromClause:
    """What each fact adds, in the columns of the table, with its moment as `at`."""
    columns = _COLUMNS[table]
    conditions = [facts.c.kind.in_([kind.value for kind, own in columns.items() if own])]
    if by_share:
        conditions.append(facts.c.share_id.is_not(None))
    if table is MONEY:
        conditions.append(facts.c.currency.is_not(None))
    share_id = facts.c.share_id if by_share else literal(NO_SHARE)
    keys = [facts.c.workspace_id, share_id.label("share_id"), facts.c.currency, facts.c.moment.label("at")]
    values = (column.of_facts(facts).label(column.name) for own in columns.values() for column in own)
    return select(*keys, *values).where(*conditions).subquery()


def _grouped(table: Table, rows: FromClause, grain: Grain) -> Select[Any]:
    keys = [name for name in keys_of(table) if name not in ("grain", "at")]
    values = [*keys, *sums_of(table)]
    placed = select(*(rows.c[name] for name in values), cell_of(rows.c.at, grain).label("at")).subquery().c
    sums = [cast(func.sum(placed[name]), BigInteger).label(name) for name in sums_of(table)]
    by = [*(placed[name] for name in keys), placed.at]
    return select(*by, literal(grain.value, Integer).label("grain"), *sums).group_by(*by)


ACTIVITY_CELLS, MONEY_CELLS = (
    Totals(table, spread=partial(_spread, table), rows_of=partial(_rows_of, table))
    for table in (ACTIVITY, MONEY)
)
