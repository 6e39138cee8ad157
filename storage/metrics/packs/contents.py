"""What a pack holds, read from the cells and facts of its block, share by share."""

from array import array
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Select, Table, Uuid, bindparam, literal, select

from storage.dialects.leaps import values_of
from storage.engine.connections import Connection
from storage.enums import FactKind
from storage.metrics.cells.blocks import BLOCK
from storage.metrics.cells.cells import ACTIVITY, MONEY
from storage.metrics.cells.tiling import Grain
from storage.metrics.packs.packed_columns import NAMES, NO_CURRENCY
from storage.metrics.packs.person_days import BITS, Persons, write_persons
from storage.metrics.packs.share_hours import write_hours
from storage.metrics.packs.share_totals import write_totals
from storage.metrics.reading.reader import Selection
from storage.metrics.reading.share_list import shares_with_facts
from storage.rows.fast_rows import driver_rows
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import NO_SHARE
from storage.tables.metrics.metrics import MetricFactRow

_facts = table_of(MetricFactRow)
_WORKSPACE_ID, _SHARE_ID = bindparam("workspace_id", type_=Uuid()), bindparam("share_id", type_=Uuid())
_AT = bindparam("at", type_=BigInteger)
_ENDS = _AT + literal(BLOCK, BigInteger)


def _persons(*, of_share: bool) -> Select[tuple[int, int]]:
    """The hours of the day and the numbers of `Persons`, in order."""
    facts, since = _facts.c, _facts.c.moment - _AT
    hour = (since // literal(Grain.HOUR.microseconds, BigInteger) % 24).label("hour")
    slot = since // literal(Grain.DAY.microseconds, BigInteger) + 1
    number = (slot * literal(1 << BITS, BigInteger) + facts.person).label("number")
    own = facts.share_id == _SHARE_ID if of_share else facts.share_id.is_(None)
    return (
        select(hour, number)
        .where(
            facts.workspace_id == _WORKSPACE_ID,
            own,
            facts.kind == FactKind.EVENT.value,
            facts.person.is_not(None),
            facts.moment >= _AT,
            facts.moment < _ENDS,
        )
        .distinct()
        .order_by(hour, number)
    )


def _cells(table: Table) -> Select[Any]:
    cells = table.c
    conditions = [
        cells.workspace_id == _WORKSPACE_ID,
        cells.share_id == _SHARE_ID,
        cells.grain == Grain.HOUR.value,
        cells.at >= _AT,
        cells.at < _ENDS,
    ]
    if table is MONEY:
        conditions.append(cells.currency == bindparam("currency"))
    return select(cells.at, *(cells[name] for name in NAMES[table])).where(*conditions).order_by(cells.at)


_PERSONS = {of_share: _persons(of_share=of_share) for of_share in (True, False)}
_CELLS = {table: _cells(table) for table in (ACTIVITY, MONEY)}
_CURRENCIES = values_of(MONEY.c.currency, MONEY.c.workspace_id == _WORKSPACE_ID, MONEY.c.share_id == NO_SHARE)


@dataclass
class PackContents:
    """The contents of one pack: call `begin`, then `add` each of `shares`."""

    workspace_id: UUID
    at: int
    shares: list[UUID] = field(default_factory=list)
    _currencies: list[str] = field(default_factory=list, repr=False)
    _persons: list[Persons] = field(default_factory=list, repr=False)
    # By currency and share.
    _totals: dict[str, dict[bytes, list[int]]] = field(default_factory=dict, repr=False)

    async def begin(self, connection: Connection) -> None:
        """Find the shares, and add what is of no share."""
        self.shares = await shares_with_facts(connection, Selection((self.workspace_id,)))
        codes = await connection.execute(_CURRENCIES, {"workspace_id": self.workspace_id})
        self._currencies = list(codes.scalars())
        await self._add_persons(connection, None)

    async def add(self, connection: Connection, share_id: UUID) -> bytes:
        """Add a share; returns its hours, which are empty if it has no cells."""
        await self._add_persons(connection, share_id)
        sections = {NO_CURRENCY: await self._cells(connection, ACTIVITY, share_id)}
        for currency in self._currencies:
            sections[currency] = await self._cells(connection, MONEY, share_id, currency=currency)
        for currency, cells in sections.items():
            if cells:
                _, *columns = zip(*cells, strict=True)
                self._totals.setdefault(currency, {})[share_id.bytes] = [sum(values) for values in columns]
        return write_hours(self.at, sections)

    def columns(self) -> dict[str, bytes]:
        """The pack's columns of contents."""
        return {"totals": write_totals(self._totals), **write_persons(self._persons)._asdict()}

    async def _add_persons(self, connection: Connection, share_id: UUID | None) -> None:
        values: dict[str, Any] = {"workspace_id": self.workspace_id, "at": self.at}
        if share_id is not None:
            values["share_id"] = share_id
        rows = await driver_rows(connection, _PERSONS[share_id is not None], values)
        if rows:
            hours, numbers = zip(*rows, strict=True)
            share = (share_id or NO_SHARE).bytes
            self._persons.append(Persons(share, bytes(hours), array("I", numbers).tobytes()))

    async def _cells(self, connection: Connection, table: Table, share_id: UUID, **values: str) -> list[Any]:
        own = {"workspace_id": self.workspace_id, "share_id": share_id, "at": self.at}
        return list(await driver_rows(connection, _CELLS[table], own | values))
