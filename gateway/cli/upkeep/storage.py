"""What `duograph storage` does."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select

from gateway.cli.kit.database import migrated, read_settings, wait_for
from gateway.cli.kit.input import workspace_of
from gateway.cli.kit.output import show, table
from gateway.settings.settings import Settings
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.rows.rows import table_of
from storage.tables.shares.files import StorageUsageRow
from storage.tables.workspaces.workspaces import WorkspaceRow
from storage.upkeep.table_sizes import Sizes, TableSize, largest_workspaces, read_sizes, read_workspace

UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
ESTIMATED = "Bytes of a workspace are estimates: its rows times the average row of each table."

_workspaces, _usage = table_of(WorkspaceRow), table_of(StorageUsageRow)


def show_storage(slug: str | None, top: int | None, *, as_json: bool) -> None:
    result, text = wait_for(_read(read_settings(), slug, top))
    show(result, text, as_json=as_json)


async def _read(settings: Settings, slug: str | None, top: int | None) -> tuple[dict[str, Any], str]:
    async with migrated(settings) as database:
        if slug is not None:
            async with database.read() as connection:
                id = (await workspace_of(connection, slug)).id
            return await _of_workspace(database, slug, id)
        sizes = await read_sizes(database)
        if top is not None:
            return await _of_largest(database, sizes, top)
        return _of_database(sizes)


def _of_database(sizes: Sizes) -> tuple[dict[str, Any], str]:
    result = {
        "method": sizes.method,
        "bytes": sizes.bytes,
        "tables": [{"table": size.table, "rows": size.rows, "bytes": size.bytes} for size in sizes.tables],
    }
    lines = [("TABLE", "ROWS", "SIZE"), *map(_row, sizes.tables)]
    return result, f"{table(lines)}\n\nThe database has {_written(sizes.bytes)}. {sizes.method}"


async def _of_workspace(database: Database, slug: str, id: UUID) -> tuple[dict[str, Any], str]:
    tables = await read_workspace(database, id, await read_sizes(database))
    async with database.read() as connection:
        files = await _bytes_of_files(connection, [id])
    result = {**_summary(slug, tables, files.get(id, 0)), "tables": [_described(size) for size in tables]}
    lines = [("TABLE", "ROWS", "SIZE"), *map(_row, tables)]
    return result, f"{table(lines)}\n\nFiles: {_written(files.get(id, 0))}. {ESTIMATED}"


async def _of_largest(database: Database, sizes: Sizes, top: int) -> tuple[dict[str, Any], str]:
    ids = await largest_workspaces(database, top)
    async with database.read() as connection:
        names = select(_workspaces.c.id, _workspaces.c.slug).where(_workspaces.c.id.in_(ids))
        slugs = dict(map(tuple, await connection.execute(names)))
        files = await _bytes_of_files(connection, ids)
    found = [
        _summary(slugs[id], await read_workspace(database, id, sizes), files.get(id, 0))
        for id in ids
        if id in slugs
    ]
    lines: list[tuple[str, ...]] = [("WORKSPACE", "ROWS", "SIZE", "FILES")]
    for each in found:
        rows = _number(each["rows"], is_more=each["is_more"])
        lines.append((each["slug"], rows, _written(each["bytes"]), _written(each["file_bytes"])))
    text = f"{table(lines)}\n\n{ESTIMATED}" if found else "No workspace has anything."
    return {"workspaces": found}, text


def _summary(slug: str, tables: Sequence[TableSize], file_bytes: int) -> dict[str, Any]:
    """All tables of a workspace together; `is_more` if one of them has more rows than are counted."""
    known = [size.bytes for size in tables if size.bytes is not None]
    return {
        "slug": slug,
        "rows": sum(size.rows for size in tables),
        "is_more": any(size.is_more for size in tables),
        "bytes": sum(known) if known else None,
        "file_bytes": file_bytes,
    }


async def _bytes_of_files(connection: Connection, ids: Sequence[UUID]) -> Mapping[UUID, int]:
    wanted = select(_usage.c.workspace_id, _usage.c.stored_bytes).where(_usage.c.workspace_id.in_(ids))
    return dict(map(tuple, await connection.execute(wanted)))


def _described(size: TableSize) -> dict[str, Any]:
    return {"table": size.table, "rows": size.rows, "is_more": size.is_more, "bytes": size.bytes}


def _row(size: TableSize) -> tuple[str, ...]:
    return size.table, _number(size.rows, is_more=size.is_more), _written(size.bytes)


def _number(rows: int, *, is_more: bool) -> str:
    return f"{'over ' if is_more else ''}{rows:,}"


def _written(number: int | None) -> str:
    """Bytes in the unit that leaves at most three digits, each unit being 1,000 of the one before."""
    if number is None:
        return "-"
    size, unit = float(number), 0
    while round(size) >= 1000 and unit < len(UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.0f} {UNITS[unit]}" if unit == 0 or size >= 10 else f"{size:.1f} {UNITS[unit]}"
