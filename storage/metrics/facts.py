"""Writing facts to the log, in the transaction of the change that they measure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import UUID

from storage.dialects.row_lists import Columns
from storage.engine.before_commit import note_deltas, note_measured
from storage.engine.connections import Connection, SqliteThread
from storage.engine.inserts import insert_into_each, insert_late, insert_twice
from storage.enums import FactKind
from storage.ids import new_ids
from storage.ledger.recording import insert_columns_at_end
from storage.rows.rows import Values, table_of
from storage.tables.metrics.metric_cells import MetricDeltaRow
from storage.tables.metrics.metrics import MetricFactRow

_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
# Deltas that travel with the last statement. Of more, each kind would make a statement of its own out of it,
# and sends the rows that both tables get once.
MOST_AT_END = 10
_deltas, _facts = table_of(MetricDeltaRow), table_of(MetricFactRow)


# Not frozen: that would take as long again for each field of a new one.
@dataclass
class Fact:
    """One fact; see `MetricFactRow` for the units."""

    workspace_id: UUID
    kind: FactKind
    moment: datetime
    share_id: UUID | None = None
    person: int | None = None
    currency: str | None = None
    count: int = 1
    bytes: int = 0
    amount: int = 0
    fee: int = 0
    parts: int = 0


@lru_cache(maxsize=64)
def microseconds(moment: datetime) -> int:
    """Microseconds since 1970 in UTC, exactly."""
    return (moment - _EPOCH) // _MICROSECOND


def moment_of(microseconds: int) -> datetime:
    """The moment of so many microseconds since 1970."""
    return _EPOCH + timedelta(microseconds=microseconds)


async def record_facts(connection: Connection, facts: Sequence[Fact]) -> None:
    """Append facts to the log, with the deltas that the fold moves into the cells.

    Nothing in the transaction reads them: few travel with its last statement, and on SQLite all with the next
    statement or the COMMIT.
    """
    if not facts:
        return
    for workspace_id, own in groupby(facts, key=attrgetter("workspace_id")):
        logged, waiting = _copies_of(list(own))
        note_measured(connection, workspace_id, min([copies.row["moment"] for copies in logged]))
        if isinstance(connection, SqliteThread):
            insert_late(connection, _facts, _rows_of(logged))
            insert_late(connection, _deltas, _rows_of(waiting))
            continue
        note_deltas(connection, (workspace_id,))
        columns = {_facts: _columns_of(logged)}
        columns[_deltas] = columns[_facts] if waiting == logged else _columns_of(waiting)
        if sum([len(each.ids) for each in waiting]) <= MOST_AT_END:
            for table, cells in columns.items():
                insert_columns_at_end(connection, workspace_id, table, cells)
        elif columns[_deltas] is columns[_facts]:
            await insert_twice(connection, _facts, _deltas, columns[_facts])
        else:
            await insert_into_each(connection, columns)


class _Copies(NamedTuple):
    """Rows that are equal to this one but for their ids."""

    row: Values
    ids: Sequence[UUID]


def _copies_of(facts: Sequence[Fact]) -> tuple[list[_Copies], list[_Copies]]:
    """The rows of the log, and of the deltas: equal facts in a row are one delta if only their counts add up.

    Other sums are kept in halves, and the halves of a sum are not the sums of the halves.
    """
    logged: list[_Copies] = []
    waiting: list[_Copies] = []
    ids = iter(new_ids(len(facts)))
    for fact, same in groupby(facts):
        own = list(islice(ids, len(list(same))))
        copies = _Copies(row_of(fact, own[0]), own)
        logged.append(copies)
        if len(own) > 1 and not (fact.bytes or fact.amount or fact.fee or fact.parts):
            copies = _Copies(copies.row | {"count": fact.count * len(own)}, own[:1])
        waiting.append(copies)
    return logged, waiting


def _columns_of(some: Sequence[_Copies]) -> Columns:
    ids = [id for copies in some for id in copies.ids]
    names = some[0].row
    if len(ids) == 1:
        return {name: [value] for name, value in names.items()}
    if len(ids) == len(some):
        # Turned by C: facts of a back-fill are all different, and each has a dozen values.
        turned = zip(*[copies.row.values() for copies in some], strict=True)
        return dict(zip(names, map(list, turned), strict=True)) | {"id": ids}
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for row, own in some:
        for name, value in row.items():
            columns[name] += [value] * len(own)
    return columns | {"id": ids}


def _rows_of(some: Sequence[_Copies]) -> list[Values]:
    return [copies.row | {"id": id} for copies in some for id in copies.ids]


def row_of(fact: Fact, id: UUID) -> Values:
    """A new row of the log, and also of the deltas."""
    return vars(fact) | {"id": id, "kind": fact.kind.value, "moment": microseconds(fact.moment)}
