"""Rows that arrive as they were given, whether one or many are inserted, and those that a key refuses."""

from uuid import UUID, uuid4

import pytest

from storage.enums import EventSource
from storage.rows.rows import Duplicate, every, insert_new_rows, insert_row, insert_rows, table_of
from storage.tables.events.events import EventRow
from storage.tables.metrics.metric_cells import MetricDeltaRow
from storage.tables.metrics.metrics import MetricFactRow
from storage.tables.workspaces.workspaces import WorkspaceRow

EVENTS = table_of(EventRow)
TEXTS = ["", "née 'Ünal' \"x\" \\ 😀", "1", "null", "NULL", " {a,\n} ", "[1]", "{}", "\x01\x7f\u2028"]


def events_of(tenant, names):
    """Events with these names, and with metadata of every type."""
    metadata = {"text": "ü\n", "whole": 2**53, "real": 1e22, "yes": True, "list": [[1], []], "none": None}
    home = {"workspace_id": UUID(tenant.id), "source": EventSource.USER, "metadata": metadata}
    return [
        {**home, "name": name, "external_customer_id": name or None, "cost_amount": 2**63 - 1 - number}
        for number, name in enumerate(names)
    ]


@pytest.mark.parametrize("many", [1, len(TEXTS)])
async def test_rows_are_read_as_they_were_inserted(gateway, tenant, many):
    async with gateway.database.write() as connection:
        inserted = await insert_rows(connection, EventRow, events_of(tenant, TEXTS[:many]))
        inserted += await insert_new_rows(connection, EventRow, events_of(tenant, TEXTS[:many]))
    async with gateway.database.read() as connection:
        ids = [row.id for row in inserted]
        kept = {row.id: row for row in await every(connection, EventRow, EVENTS.c.id.in_(ids))}
    assert [kept[id] for id in ids] == inserted


@pytest.mark.parametrize("others", [0, 2])
async def test_a_row_whose_unique_value_is_taken_is_refused(gateway, tenant, others):
    known, *new = events_of(tenant, TEXTS[: others + 1])
    known["external_id"] = "known"
    async with gateway.database.write() as connection:
        await insert_row(connection, EventRow, **known)
    async with gateway.database.write() as connection:
        inserted = await insert_new_rows(connection, EventRow, [known, *new])
    assert [row.name for row in inserted] == [values["name"] for values in new]
    with pytest.raises(Duplicate):
        async with gateway.database.write() as connection:
            await insert_rows(connection, EventRow, [*new, known])


@pytest.mark.parametrize("insert", [insert_rows, insert_new_rows])
@pytest.mark.parametrize("others", [0, 2])
async def test_a_row_that_refers_to_nothing_is_refused(gateway, tenant, insert, others):
    lost, *rest = events_of(tenant, TEXTS[: others + 1])
    lost["parent_id"] = uuid4()
    with pytest.raises(Duplicate):
        async with gateway.database.write() as connection:
            await insert(connection, EventRow, [*rest, lost])


async def test_a_row_may_come_before_the_one_that_it_refers_to(gateway, tenant):
    child, parent = events_of(tenant, ["child", "parent"])
    child["parent_id"] = parent["id"] = uuid4()
    async with gateway.database.write() as connection:
        assert len(await insert_new_rows(connection, EventRow, [child, parent])) == 2


async def test_lists_of_one_column_stay_apart_from_the_rows(gateway):
    socials = [[{"platform": "x"}, [1, 2]], [], [["y"]]]
    rows = [{"slug": f"home-{uuid4()}", "name": "Home", "socials": value} for value in socials]
    async with gateway.database.write() as connection:
        inserted = await insert_rows(connection, WorkspaceRow, rows)
    async with gateway.database.read() as connection:
        for row, value in zip(inserted, socials, strict=True):
            (kept,) = await every(connection, WorkspaceRow, table_of(WorkspaceRow).c.id == row.id)
            assert kept.socials == value


def test_a_fact_and_its_delta_are_sent_as_one_row():
    facts, deltas = (
        [(column.name, repr(column.type)) for column in table_of(row).c]
        for row in (MetricFactRow, MetricDeltaRow)
    )
    assert facts == deltas
