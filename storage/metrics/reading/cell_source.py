"""Metrics from cells, from deltas that are not in them yet, and from the facts of cells that an edge cuts.

The fold moves deltas into cells in one transaction, and all are read in one snapshot: each fact counts once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from sqlalchemy import Table, select

from storage.engine.connections import Connection
from storage.metrics.cells.bitmaps import PersonCounts
from storage.metrics.cells.cells import ACTIVITY, MONEY, PERSON_GRAINS, SHARE_GRAINS, WORKSPACE_GRAINS
from storage.metrics.cells.tiling import FIRST_EVER, Cover, Grain, Layer, make_cover
from storage.metrics.reading.cell_statements import CellQuery, has_deltas, sums_of_cells
from storage.metrics.reading.fact_rows import FactRows
from storage.metrics.reading.fact_source import FACTS, FactSource
from storage.metrics.reading.fact_statements import FactQuery, InCells, OutsideCells
from storage.metrics.reading.fast_rows import driver_rows
from storage.metrics.reading.period_sums import PeriodSums, SumsByKey
from storage.metrics.reading.person_source import PersonSource
from storage.metrics.reading.reader import GroupedBy, Selection, Source, Sums
from storage.metrics.sums import FactSum, kinds_of
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import NO_SHARE, MetricDeltaRow

_deltas = table_of(MetricDeltaRow)


def make_source(connection: Connection, selection: Selection) -> Source:
    """Cells for workspaces and shares; facts for customers, who have few, found by an index."""
    if selection.customer_ids is not None:
        return FactSource(connection, selection)
    return CellSource(connection, selection)


@dataclass
class CellSource:
    """The cells of workspaces, or of their shares. `connection` is in a snapshot."""

    connection: Connection
    selection: Selection
    _has_deltas: bool | None = field(default=None, init=False, repr=False)

    async def sums(
        self,
        fact_sums: Sequence[FactSum],
        edges: Sequence[int],
        currency: str,
        states: Sequence[FactSum] = (),
    ) -> Sums:
        return (await self.by_key(fact_sums, edges, currency, states))[None]

    async def money(self, fact_sums: Sequence[FactSum], edges: Sequence[int]) -> Mapping[str, Sums]:
        return await self.by_key(fact_sums, edges, "", grouped_by=GroupedBy.CURRENCY)

    async def persons(self, edges: Sequence[int]) -> PersonCounts:
        cover = make_cover(tuple(edges), PERSON_GRAINS)
        if not cover.layers or self.selection.share_ids is not None:
            return await self._facts.persons(edges)
        source = PersonSource(self.connection, self.selection.workspace_ids, edges)
        await source.read()
        if source.has_deltas is not None:
            self._has_deltas = source.has_deltas
        facts = [persons for rows in await self._others(edges, cover) for persons in await rows.persons()]
        return await source.result(facts)

    async def by_key(
        self,
        fact_sums: Sequence[FactSum],
        edges: Sequence[int],
        currency: str,
        states: Sequence[FactSum] = (),
        grouped_by: GroupedBy | None = None,
    ) -> SumsByKey:
        """The sums of each group, or of `None`; money in `currency`, or in the key if that is empty."""
        cover = make_cover(tuple(edges), self._grains)
        if not cover.layers:
            found = await self._facts.by_key(fact_sums, edges, currency, grouped_by=grouped_by)
            if states:
                # The states before the edges are in cells.
                until = [FIRST_EVER, edges[0]]
                for key, before in (await self.by_key(states, until, currency, (), grouped_by)).items():
                    for state in states:
                        found[key][state][0] = before[state][1]
            return found
        sums = PeriodSums(fact_sums, edges)
        await self._add_between(sums, currency, states, grouped_by)
        for rows in await self._others(edges, cover, states, grouped_by):
            sums.add_facts(await rows.sums(fact_sums), currency)
        return sums.by_key

    async def _add_between(
        self,
        sums: PeriodSums,
        currency: str,
        states: Sequence[FactSum] = (),
        grouped_by: GroupedBy | None = None,
        layers: tuple[Layer, ...] | None = None,
    ) -> None:
        """Add the cells between the edges of `sums`; with `layers`, only these."""
        read_key = None if grouped_by is None else _KEYS[grouped_by]
        for table in (ACTIVITY, MONEY):
            own = [fact_sum for fact_sum in sums.fact_sums if fact_sum.in_currency == (table is MONEY)]
            if own:
                query = self._query(table, sums.edges, grouped_by, layers)
                counted = states if table is ACTIVITY else ()
                sums.add_cells(own, await self._cells(query, own, counted, currency), read_key)

    @property
    def _grains(self) -> tuple[Grain, ...]:
        return WORKSPACE_GRAINS if self.selection.share_ids is None else SHARE_GRAINS

    @property
    def _facts(self) -> FactSource:
        return FactSource(self.connection, self.selection)

    async def _others(
        self,
        edges: Sequence[int],
        cover: Cover,
        states: Sequence[FactSum] = (),
        grouped_by: GroupedBy | None = None,
    ) -> list[FactRows]:
        """The facts that the cover's cells do not hold."""
        others = []
        query = FactQuery(
            self.connection.dialect.name,
            _deltas,
            tuple(edges),
            OutsideCells(cover.finest, cover.cut),
            by_share=self.selection.share_ids is not None,
            since_ever=kinds_of(states),
            grouped_by=grouped_by,
        )
        if self._has_deltas is None:
            ids = {"workspace_ids": self.selection.workspace_ids}
            statement = select(has_deltas(of_one=False))
            self._has_deltas = bool((await self.connection.execute(statement, ids)).scalar())
        if self._has_deltas:
            others.append(FactRows(self.connection, query, self.selection))
        if cover.cut:
            query = replace(query, table=FACTS, restriction=InCells(cover.finest, cover.cut))
            others.append(FactRows(self.connection, query, self.selection))
        return others

    def _query(
        self,
        table: Table,
        edges: Sequence[int],
        grouped_by: GroupedBy | None,
        layers: tuple[Layer, ...] | None,
    ) -> CellQuery:
        workspaces = len(self.selection.workspace_ids)
        return CellQuery(
            self.connection.dialect.name,
            table,
            tuple(edges),
            self._grains,
            of_one=workspaces == len(self._shares) == 1 and grouped_by is None,
            grouped_by=grouped_by,
            layers=layers,
            in_one=workspaces == 1,
        )

    async def _cells(
        self,
        query: CellQuery,
        fact_sums: Sequence[FactSum],
        states: Sequence[FactSum],
        currency: str,
    ) -> Sequence[Any]:
        owner: dict[str, Any] = {"workspace_ids": self.selection.workspace_ids, "share_ids": self._shares}
        if query.of_one:
            owner = {name.removesuffix("s"): ids[0] for name, ids in owner.items()}
        statement = sums_of_cells(query, tuple(fact_sums), tuple(states))
        rows = await driver_rows(self.connection, statement, owner | {"currency": currency})
        if rows:
            # Usually the fold is up to date, and this saves every further statement.
            *_, has_any = rows[0]
            self._has_deltas = self._has_deltas if has_any is None else bool(has_any)
        return rows

    @property
    def _shares(self) -> Sequence[UUID]:
        return (NO_SHARE,) if self.selection.share_ids is None else self.selection.share_ids


def _id(value: UUID | str) -> UUID:
    """The id in a row as the driver returns it: SQLite stores texts."""
    return UUID(value) if isinstance(value, str) else value


_KEYS: Mapping[GroupedBy, Callable[[Any], Any]] = {GroupedBy.SHARE: _id, GroupedBy.CURRENCY: str}
