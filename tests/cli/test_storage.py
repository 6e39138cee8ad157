"""How much is stored, from the command line and on both databases."""

import re
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select

from gateway.cli.upkeep.storage import _written
from storage.engine.database import Database
from storage.rows.rows import table_of
from storage.tables.customers.customers import CustomerRow
from storage.tables.registry import METADATA
from storage.tables.workspaces.totals import ListTotalRow
from storage.upkeep import table_sizes
from storage.upkeep.table_sizes import Sizes, TableSize, largest_workspaces, read_sizes, read_workspace
from tests.support.callers.surfaces import Rest
from tests.support.commands.command import Command
from tests.support.measures.patience import until
from tests.support.servers.gateways import Gateway, Tenant

CUSTOMERS, TOTALS = table_of(CustomerRow), table_of(ListTotalRow)


def by_table(answer: dict[str, Any]) -> dict[str, Any]:
    return {each["table"]: each for each in answer["tables"]}


def by_name(sizes: Sizes) -> dict[str, TableSize]:
    return {size.table: size for size in sizes.tables}


def test_tables_are_listed_by_size(command: Command) -> None:
    answer = command.json("storage")
    tables = by_table(answer)
    # Those of the indexes that searches use are named as such.
    own = {name for name in tables if not name.startswith("ix_")}
    assert own - {"alembic_version"} == set(METADATA.tables)
    assert (tables["users"]["rows"], tables["workspaces"]["rows"]) == (1, 1)
    listed = [each["bytes"] for each in answer["tables"]]
    assert listed == sorted(listed, reverse=True)
    # The rest is the schema itself.
    assert sum(listed) < answer["bytes"] < 2 * sum(listed)
    shown = command.run("storage").stdout.splitlines()
    assert shown[0].split() == ["TABLE", "ROWS", "SIZE"]
    assert shown[-1].startswith("The database has ")
    assert "counted in the pages" in shown[-1]


def test_a_workspace_has_its_own_rows(command: Command) -> None:
    answer = command.json("storage", "--workspace", "acme")
    assert by_table(answer)["workspace_members"]["rows"] == 1
    assert (answer["slug"], answer["file_bytes"], answer["is_more"]) == ("acme", 0, False)
    assert "Files: 0 B." in command.run("storage", "--workspace", "acme").stdout


def test_the_largest_workspaces_are_listed(command: Command, seeded: Command) -> None:
    assert command.json("storage", "--top", "3") == {"workspaces": []}
    assert command.run("storage", "--top", "3").stdout == "No workspace has anything.\n"
    (demo,) = seeded.json("storage", "--top", "3")["workspaces"]
    assert demo["slug"] == "demo"
    heading, row, *_ = seeded.run("storage", "--top", "3").stdout.splitlines()
    assert heading.split() == ["WORKSPACE", "ROWS", "SIZE", "FILES"]
    assert re.split(" {2,}", row) == [
        *("demo", f"{demo['rows']:,}", _written(demo["bytes"]), _written(demo["file_bytes"])),
    ]


def test_a_workspace_that_does_not_exist_is_an_error(command: Command) -> None:
    refusal = command.refusal("storage", "--workspace", "nowhere")
    assert "There is no workspace with the slug nowhere" in refusal
    refusal = command.refusal("storage", "--workspace", "acme", "--top", "3", status=2)
    assert "exclude each other" in refusal


async def test_rows_of_workspaces_are_counted(gateway: Gateway, rest: Rest, tenant: Tenant) -> None:
    for number in range(3):
        await rest.create_customer(data={"email": f"{number}@example.com"})
    async with gateway.database.write() as connection:
        if not gateway.database.is_sqlite:
            # What runs beside this writes and deletes customers too.
            await connection.exec_driver_sql("LOCK TABLE customers IN SHARE MODE")

        async def as_counted() -> Sizes | None:
            if not gateway.database.is_sqlite:
                await connection.exec_driver_sql("ANALYZE customers")
            many = (await connection.execute(select(func.count()).select_from(CUSTOMERS))).scalar_one()
            sizes = await read_sizes(gateway.database)
            return sizes if many >= 3 and by_name(sizes)["customers"].rows == many else None

        # PostgreSQL's number is an estimate: connections may add later what they wrote before the analysis.
        found = await until(as_counted)
    tables = by_name(found)
    assert set(METADATA.tables) <= tables.keys()
    assert found.bytes > (tables["customers"].bytes or 0) > 0
    own = {size.table: size for size in await read_workspace(gateway.database, UUID(tenant.id), found)}
    assert own["customers"].rows == 3
    assert 0 < (own["customers"].bytes or 0) <= (tables["customers"].bytes or 0)
    assert "metric_facts" not in own


async def test_counting_ends(
    gateway: Gateway, rest: Rest, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_sizes, "MOST_COUNTED", 2)
    for number in range(3):
        await rest.create_customer(data={"email": f"{number}@example.com"})
    found = await read_sizes(gateway.database)
    own = {size.table: size for size in await read_workspace(gateway.database, UUID(tenant.id), found)}
    assert (own["customers"].rows, own["customers"].is_more) == (2, True)


async def test_the_workspaces_with_the_most_rows_are_found_by_their_totals(
    gateway: Gateway, tenant: Tenant
) -> None:
    async with gateway.database.write() as connection:
        values = {"workspace_id": UUID(tenant.id), "list": "shares", "value": "", "total": 10**9}
        await connection.execute(TOTALS.insert().values(values))
    try:
        assert await largest_workspaces(gateway.database, 1) == [UUID(tenant.id)]
    finally:
        async with gateway.database.write() as connection:
            await connection.execute(TOTALS.delete().where(TOTALS.c.total == 10**9))


async def test_sqlite_without_dbstat_counts_rows(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database(f"sqlite+aiosqlite:///{command.directory}/var/duograph.sqlite")
    exact = {size.table: size.rows for size in (await read_sizes(database)).tables}
    monkeypatch.setattr(table_sizes, "_DBSTAT", table_sizes._DBSTAT.replace("dbstat", "no_such_table"))
    sizes = await read_sizes(database)
    await database.close()
    assert "no dbstat" in sizes.method
    counted = {size.table: size.rows for size in sizes.tables}
    assert {name: exact[name] for name in counted} == counted
    assert TableSize("users", 1, None) in sizes.tables


@pytest.mark.parametrize(
    ("number", "text"),
    [(None, "-"), (0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (12_345, "12 kB"), (999_999, "1.0 MB")],
)
def test_bytes_are_written_in_a_unit_that_fits(number: int | None, text: str) -> None:
    assert _written(number) == text
