"""Facts as sums and persons by period: those of the log, or those of the deltas."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.metrics.fact_statements import (
    PersonsOf,
    Shape,
    money_of_facts,
    persons_with_events,
    sums_of_facts,
)
from storage.metrics.source import Selection
from storage.metrics.terms import Term
from storage.numbers import read_numbers


@dataclass(frozen=True)
class FactRows:
    """The selected facts of a shape; `of`: those of these persons by workspace."""

    connection: AsyncConnection
    shape: Shape
    selection: Selection
    of: PersonsOf | None = None

    async def sums(self, terms: Sequence[Term], currency: str) -> Sequence[Any]:
        """Rows of a moment before the edges or in the period, and of the sums of the terms' parts."""
        return await self._rows(sums_of_facts(self.shape, tuple(terms)), currency=currency)

    async def money(self, terms: Sequence[Term]) -> Sequence[Any]:
        """Rows of a currency, of a moment in the period, and of the sums of the terms' parts."""
        return await self._rows(money_of_facts(self.shape, tuple(terms)))

    async def persons(self) -> Sequence[Any]:
        """Rows of a moment in the period, of a workspace, and of persons in it, merged ones as one."""
        rows = await self._rows(persons_with_events(self.shape))
        return [(at, workspace_id, read_numbers(gathered)) for at, workspace_id, gathered in rows]

    async def _rows(self, statement: Select[Any], **values: str) -> Sequence[Any]:
        found = self.shape.values(self.selection, self.of) | values
        rows: Sequence[Any] = (await self.connection.execute(statement, found)).all()
        return rows
