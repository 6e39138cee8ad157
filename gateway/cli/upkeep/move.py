"""What `duograph move` does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Table
from sqlalchemy.engine import make_url

from gateway.cli.kit.database import reached, read_settings, revision_fault, wait_for
from gateway.cli.kit.output import CommandError, listing, show, some_of
from gateway.cli.kit.progress import counting
from gateway.settings.settings import Settings
from gateway.settings.values.types import DatabaseUrl
from storage.copies.copying import TABLES, analyze, copy_rows, filled_tables
from storage.copies.derived import build, missing_of
from storage.copies.digests import Digest, digest_postgresql, digest_sqlite
from storage.copies.marks import Mark, State, check_refusing, clear_mark, read_mark, set_mark
from storage.copies.sqlite_files import open_file, rows_of
from storage.engine.database import Database
from storage.migrations.lock import silent
from storage.searching import making

OPTION = "--to"
# A table on both sides: the values of `COLUMNS`.
Compared = dict[str, str | int | bool]
COLUMNS = ["table", "rows", "moved_rows", "checksum", "moved_checksum", "differs"]


def move(url: str, *, as_json: bool) -> None:
    """Move, compare, and say how to go on. Raises `CommandError` if anything differs."""
    settings = read_settings()
    tables = wait_for(_move(settings, _target_settings(settings, url)))
    different = [_difference(table) for table in tables if table["differs"]]
    rows = sum(int(table["rows"]) for table in tables)
    texts = [{**table, "differs": "yes" if table["differs"] else None} for table in tables]
    summary = f"{rows:,} rows of {len(tables)} tables: {len(different) or 'no'} differences."
    text = [listing("tables", texts, COLUMNS), "", summary]
    directory = settings.object_directory
    files = (
        f"Files stay in {settings.object_store}."
        if directory is None
        else f"Files stay in {directory.absolute()}: keep that directory, or copy it to the new hosts."
    )
    if not different:
        text += [
            "Start the gateways with the new DUOGRAPH_DATABASE_URL and the same DUOGRAPH_SECRET_KEY.",
            files,
        ]
    result = {"rows": rows, "differences": len(different), "tables": tables, "files": files}
    show(result, "\n".join(text), as_json=as_json)
    if different:
        raise CommandError(
            f"{len(different)} tables differ: {some_of(different)}. Go on using the old database: "
            "`duograph move --undo`, then move into a new, empty database."
        )


def _difference(table: Compared) -> str:
    """The name of a table, and what differs."""
    ours, theirs = table["rows"], table["moved_rows"]
    return f"{table['table']} ({'other values' if ours == theirs else f'{theirs} rows instead of {ours}'})"


def undo_move(*, as_json: bool) -> None:
    mark = wait_for(_undo(read_settings()))
    text = (
        f"The database can be changed and served again. What was copied to {mark.address} is still there: "
        "the next move needs an empty database."
    )
    show({"address": mark.address, "state": mark.state.value}, text, as_json=as_json)


async def _undo(settings: Settings) -> Mark:
    async with reached(settings) as database:
        mark = await read_mark(database)
        if mark is None or mark.state is State.RECEIVING:
            raise CommandError("No move from this database has begun: there is nothing to undo.")
        async with database.write() as connection:
            await clear_mark(connection)
        return mark


async def _move(settings: Settings, target_settings: Settings) -> list[Compared]:
    if settings.sqlite_path is None:
        raise CommandError("Only SQLite is moved: DUOGRAPH_DATABASE_URL should be that of the file.")
    async with (
        _at_newest(settings, "DUOGRAPH_DATABASE_URL") as source,
        _at_newest(target_settings, OPTION) as target,
    ):
        mark, theirs = await _marks(source, target)
        compared = await _transfer(settings.sqlite_path, target, theirs)
        if not any(table["differs"] for table in compared):
            # The source comes first: if this is interrupted, the next run compares and ends it.
            async with source.write() as connection:
                await set_mark(connection, replace(mark, state=State.MOVED))
            async with target.write() as connection:
                await clear_mark(connection)
        return compared


@asynccontextmanager
async def _at_newest(settings: Settings, name: str) -> AsyncIterator[Database]:
    async with reached(settings, source=name) as database:
        if fault := await revision_fault(database):
            raise CommandError(f"{fault} This is about {name}.")
        yield database


async def _marks(source: Database, target: Database) -> tuple[Mark, Mark]:
    """The marks of both databases, new ones for a move that begins. Raises `CommandError`."""
    ours, theirs = await read_mark(source), await read_mark(target)
    address = _address_of(target)
    if ours is not None and ours.address != address:
        raise CommandError(
            f"A move to {ours.address} began on {ours.day}: go on with it, or `duograph move --undo` first."
        )
    if theirs is not None and (ours is None or theirs.id != ours.id or theirs.state is not State.RECEIVING):
        raise CommandError(
            f"{address} has rows of another move, or of one that was undone: move into a new, empty database."
        )
    if theirs is None and (filled := await filled_tables(target)):
        done = ours is not None and ours.state is State.MOVED
        raise CommandError(
            f"The data was moved to {address} on {ours.day} already."
            if ours is not None and done
            else f"{address} has rows already ({some_of(filled)}): move into a new, empty database."
        )
    if ours is None:
        ours = Mark(State.MOVING, address)
        async with source.write() as connection:
            await set_mark(connection, ours)
    else:
        await check_refusing(source)
    if theirs is None:
        theirs = Mark(State.RECEIVING, _address_of(source), ours.id)
        async with target.write() as connection:
            await set_mark(connection, theirs)
    return ours, theirs


async def _transfer(path: Path, target: Database, mark: Mark) -> list[Compared]:
    """Copy and compare, with a bar for each step in a terminal."""
    counts = await asyncio.to_thread(rows_of, path)
    rows = sum(counts[table.name] for table in TABLES)
    with closing(open_file(path)) as file, counting() as progress:
        copying = progress.add_task("Copying", total=rows, completed=mark.copied)
        async for done in copy_rows(file, target, mark):
            progress.update(copying, completed=done.copied)
        progress.update(copying, completed=rows)
        for derived in progress.track(await missing_of(target), description="Indexing"):
            await build(target, derived)
        await making.make(target, silent)
        await analyze(target)
        report = partial(progress.advance, progress.add_task("Comparing", total=rows))
        compared = []
        for table in TABLES:
            # Both sides at the same time.
            ours, theirs = await asyncio.gather(
                asyncio.to_thread(digest_sqlite, file, table, report), digest_postgresql(target, table)
            )
            compared.append(_compared(table, ours, theirs))
        return compared


def _compared(table: Table, ours: Digest, theirs: Digest) -> Compared:
    values = (table.name, ours.rows, theirs.rows, ours.checksum, theirs.checksum, ours != theirs)
    return dict(zip(COLUMNS, values, strict=True))


def _target_settings(settings: Settings, url: str) -> Settings:
    refused = CommandError(
        f"{OPTION} should be postgresql://USER@HOST/NAME: data is moved there only.", status=2
    )
    try:
        named = TypeAdapter(DatabaseUrl).validate_python(url)
        target = settings.model_copy(update={"database_url": named, "database_read_url": None})
    except ValidationError:
        raise refused from None
    if target.sqlite_path is not None:
        raise refused
    return target


def _address_of(database: Database) -> str:
    """Where the database is, without a user or password."""
    url = make_url(database.engine.url)
    if database.is_sqlite:
        return str(Path(url.database or "").absolute())
    host = url.host or url.query.get("host") or "localhost"
    return f"postgresql://{host}{f':{url.port}' if url.port else ''}/{url.database}"
