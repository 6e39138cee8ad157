"""When persons were last active: the newest of their facts that report what they did."""

from collections.abc import Sequence
from functools import cache
from typing import Any
from uuid import UUID

from sqlalchemy import Select, Uuid, bindparam, func, select

from storage.dialects.number_lists import as_numbers, numbers_named
from storage.engine.connections import Connection
from storage.enums import FactKind
from storage.rows.rows import table_of
from storage.tables.metrics.metrics import MetricFactRow

# What a person does. A session also ends by itself, and a refund is the shop's.
ACTIVE = (
    FactKind.FREE_SESSION,
    FactKind.PRICED_SESSION,
    FactKind.DOWNLOAD,
    FactKind.PAYMENT,
    FactKind.EVENT,
)
_facts = table_of(MetricFactRow)


@cache
def _statement(dialect: str) -> Select[Any]:
    """A look into the index for each person and kind, however many facts there are."""
    persons = numbers_named(dialect, "persons")
    workspace_id = bindparam("workspace_id", type_=Uuid())

    def last(kind: FactKind) -> Any:
        own = select(func.max(_facts.c.moment)).where(
            _facts.c.workspace_id == workspace_id, _facts.c.person == persons.c.value, _facts.c.kind == kind
        )
        return own.correlate(persons).scalar_subquery()

    return select(persons.c.value, *map(last, ACTIVE)).select_from(persons)


async def last_moments(connection: Connection, workspace_id: UUID, persons: Sequence[int]) -> dict[int, int]:
    """Microseconds since 1970 by person, of those who were ever active."""
    dialect = connection.dialect.name
    values = {"workspace_id": workspace_id, "persons": as_numbers(dialect, persons)}
    found = await connection.execute(_statement(dialect), values)
    seen = {person: max(filter(None, moments), default=None) for person, *moments in found}
    return {person: moment for person, moment in seen.items() if moment is not None}
