"""The speed of reading metrics and writing facts, compared with raw rows: `python -m bench.metrics`.

Prints tables in Markdown, which `docs/metrics-internals.md` contains, and exits with 1 if a target is
missed. Absolute numbers mislead on shared machines: targets are ratios within one run. The data of each size
is made once, in `var/bench/metrics`.
"""

import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from bench.kit.options import options
from bench.metrics import loading
from bench.metrics.reads import ReadFigures, measure_reads
from bench.metrics.report import (
    NAMES,
    checks_table,
    make_checks,
    reads_table,
    size_name,
    writes_table,
)
from bench.metrics.stores import store
from bench.metrics.writes import WriteFigures, measure_writes
from gateway.cli.kit.database import wait_for
from storage.engine.database import Database
from storage.ledger.checking import rebuild
from storage.metrics.packs.ledger import CELLS
from storage.metrics.packs.packing import pack_all
from storage.migrations.run import upgrade

FOLDER = Path("var/bench/metrics")
# The modules that decide what cells and packs hold: when one of them changes, these are made again.
_METRICS, _TABLES = Path("storage/metrics"), Path("storage/tables/metrics")
_OF_CELLS = ("cells", "period_sql", "persons", "tiling")
MAKERS = [
    _METRICS / "sums.py",
    *(_METRICS / "cells" / f"{name}.py" for name in _OF_CELLS),
    *sorted((_METRICS / "packs").glob("*.py")),
    _TABLES / "metric_cells.py",
    _TABLES / "metric_packs.py",
]
UNITS = {"k": 1_000, "M": 1_000_000}

progress = Console(stderr=True, highlight=False)


async def reads_of(dialect: str, size: int, rounds: int) -> ReadFigures:
    def report(doing: str) -> None:
        progress.print(f"{NAMES[dialect]}, {size_name(size)}: {doing}")

    folder = FOLDER / f"{dialect}-{size}"
    loaded, celled = folder / "loaded", folder / "cells"
    if not loaded.exists():
        shutil.rmtree(folder, ignore_errors=True)
    with store(dialect, folder) as address:
        if not loaded.exists():
            await loading.load(address, size, report)
            loaded.touch()
        database = Database(address)
        version = hashlib.sha256(b"".join(path.read_bytes() for path in MAKERS)).hexdigest()
        if not celled.exists() or celled.read_text() != version:
            report("making cells")
            await make_cells(database)
            celled.write_text(version)
        figures = await measure_reads(database, dialect, size, rounds, report)
        await database.close()
    return figures


async def make_cells(database: Database) -> None:
    await upgrade(database)
    await rebuild(database, loading.WORKSPACE_ID, [CELLS])
    await pack_all(database, loading.WORKSPACE_ID)
    async with database.read() as connection:
        await loading.analyze(connection)


async def writes_to(dialect: str, rounds: int) -> WriteFigures:
    """The speed of writing into a database that is empty but for a tenant."""
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder, store(dialect, Path(folder)) as address:
        database = Database(address)
        await upgrade(database)
        async with database.write() as connection:
            await loading.insert_tenant(connection)
        progress.print(f"{NAMES[dialect]}: writing")
        figures = await measure_writes(database, dialect, rounds)
        await database.close()
    return figures


def main() -> None:
    arguments = options(__doc__, sizes=["100k", "1M"], databases=["sqlite", "postgresql"], rounds=5)
    FOLDER.mkdir(parents=True, exist_ok=True)
    sizes = sorted(int(each.rstrip("kM")) * UNITS.get(each[-1], 1) for each in arguments.sizes)
    reads, writes = [], []
    for dialect in arguments.databases:
        # As the gateway runs, with its own rules for collecting garbage.
        reads += [wait_for(reads_of(dialect, size, arguments.rounds)) for size in sizes]
        writes.append(wait_for(writes_to(dialect, arguments.rounds)))
    checks = make_checks(reads, writes)
    print("\n\n".join((reads_table(reads), writes_table(writes), checks_table(checks))))
    sys.exit(any(not check.is_met for check in checks))


if __name__ == "__main__":
    main()
