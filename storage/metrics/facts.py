"""Writing facts to the log, in the transaction of the change that they measure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import groupby, islice
from operator import itemgetter
from uuid import UUID

from storage.engine.before_commit import note_deltas, note_measured
from storage.engine.connections import Connection, SqliteThread
from storage.engine.inserts import insert_into_each, insert_late, insert_twice
from storage.enums import FactKind
from storage.ids import new_ids
from storage.rows.rows import Values, table_of
from storage.tables.metrics.metric_cells import MetricDeltaRow
from storage.tables.metrics.metrics import MetricFactRow

_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
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

    On SQLite they travel with the next statement or the COMMIT, as nothing waits for their answer.
    """
    rows, deltas = _rows_of(facts)
    if not rows:
        return
    workspace_ids = set()
    for workspace_id, own in groupby(rows, key=itemgetter("workspace_id")):
        note_measured(connection, workspace_id, min(map(itemgetter("moment"), own)))
        workspace_ids.add(workspace_id)
    if isinstance(connection, SqliteThread):
        insert_late(connection, _facts, rows)
        insert_late(connection, _deltas, deltas)
        return
    if len(deltas) == len(rows):
        await insert_twice(connection, _facts, _deltas, rows)
    else:
        await insert_into_each(connection, {_facts: rows, _deltas: deltas})
    note_deltas(connection, workspace_ids)


def _rows_of(facts: Sequence[Fact]) -> tuple[list[Values], list[Values]]:
    """The rows of the log, and of the deltas: equal facts in a row are one delta if only their counts add up.

    Other sums are kept in halves, and the halves of a sum are not the sums of the halves.
    """
    rows: list[Values] = []
    deltas: list[Values] = []
    ids = iter(new_ids(len(facts)))
    for fact, same in groupby(facts):
        many = len(list(same))
        first = row_of(fact, next(ids))
        own = [first, *(first | {"id": id} for id in islice(ids, many - 1))]
        rows += own
        if fact.bytes or fact.amount or fact.fee or fact.parts:
            deltas += own
        else:
            deltas.append(first | {"count": fact.count * many})
    return rows, deltas


def row_of(fact: Fact, id: UUID) -> Values:
    """A new row of the log, and also of the deltas."""
    return vars(fact) | {"id": id, "kind": fact.kind.value, "moment": microseconds(fact.moment)}
