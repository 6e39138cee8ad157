"""The speed of reading metrics and writing facts, compared with raw rows: `python -m bench.metrics`.

Prints tables in Markdown, which `docs/metrics-internals.md` contains, and exits with 1 if a target is
missed. Absolute numbers mislead on shared machines: targets are ratios within one run. The data of each size
is made once.
"""

import argparse
import hashlib
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

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
from bench.metrics.stores import Stores, open_stores
from bench.metrics.writes import WriteFigures, measure_writes
from gateway.cli.kit.database import wait_for
from storage.metrics.cells.rebuild import rebuild
from storage.metrics.packs.packing import pack_all
from storage.migrations.run import upgrade

FOLDER = Path("var/bench/metrics")
# The modules that decide what cells and packs hold: when one of them changes, these are made again.
MAKERS = [
    *(
        Path(f"storage/metrics/{name}.py")
        for name in (
            "sums",
            "cells/cells",
            "cells/from_log",
            "cells/period_sql",
            "cells/rebuild",
            "cells/tiling",
        )
    ),
    *sorted(Path("storage/metrics/packs").glob("*.py")),
    Path("storage/tables/metrics/metric_cells.py"),
    Path("storage/tables/metrics/metric_packs.py"),
]
UNITS = {"k": 1_000, "M": 1_000_000}
SCRATCH = "writes"


class Bench:
    """Measures one kind of database after the other and reports its progress."""

    def __init__(self, folder: Path, rounds: int, progress: Progress) -> None:
        self.reads: list[ReadFigures] = []
        self.writes: list[WriteFigures] = []
        self._folder = folder
        self._rounds = rounds
        self._progress = progress

    async def run(self, dialect: str, sizes: Sequence[int]) -> None:
        with open_stores(dialect, self._folder) as stores:
            for size in sizes:
                self.reads.append(await self._measure_reads(stores, size))
            self.writes.append(await self._measure_writes(stores))

    async def _measure_reads(self, stores: Stores, size: int) -> ReadFigures:
        name = f"metrics-{size}"
        task = self._progress.add_task(f"{NAMES[stores.dialect]}, {size_name(size)}", total=1, doing="")
        report = partial(self._report, task)
        if not await stores.exists(name):
            self._mark(stores, name).unlink(missing_ok=True)
            await loading.load(stores, name, size, report)
        await self._make_cells(stores, name, report)
        database = stores.open(name)
        figures = await measure_reads(database, stores.dialect, size, self._rounds, report)
        await database.close()
        report("done", 1)
        return figures

    async def _make_cells(self, stores: Stores, name: str, report: loading.Progress) -> None:
        """Rebuild the cells and packs unless the current code has made them."""
        version = hashlib.sha256(b"".join(path.read_bytes() for path in MAKERS)).hexdigest()
        mark = self._mark(stores, name)
        if mark.exists() and mark.read_text() == version:
            return
        database = stores.open(name)
        report("making cells", 0)
        await upgrade(database)
        await rebuild(database, loading.WORKSPACE_ID)
        await pack_all(database, loading.WORKSPACE_ID)
        async with database.read() as connection:
            await loading.analyze(connection)
        await database.close()
        mark.write_text(version)

    def _mark(self, stores: Stores, name: str) -> Path:
        return self._folder / f"{stores.dialect}-{name}.cells"

    async def _measure_writes(self, stores: Stores) -> WriteFigures:
        task = self._progress.add_task(f"{NAMES[stores.dialect]}, writes", total=1, doing="")
        report = partial(self._report, task)
        await stores.drop(SCRATCH)
        await stores.create(SCRATCH)
        database = stores.open(SCRATCH)
        await upgrade(database)
        async with database.write() as connection:
            await loading.insert_tenant(connection)
        figures = await measure_writes(database, stores.dialect, self._rounds, report)
        await database.close()
        await stores.drop(SCRATCH)
        report("done", 1)
        return figures

    def _report(self, task: TaskID, doing: str, part: float) -> None:
        shown = self._progress.tasks[task]
        if doing != shown.fields["doing"] and not self._progress.console.is_terminal:
            self._progress.console.print(f"{shown.description}: {doing}")
        self._progress.update(task, doing=doing, completed=part)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=_sizes, default="100k,1M", help="sessions, and as many events")
    parser.add_argument("--databases", type=lambda text: text.split(","), default="sqlite,postgresql")
    parser.add_argument("--rounds", type=int, default=5, help="rounds; the table shows medians")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the data is kept")
    arguments = parser.parse_args()
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[doing]}"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as progress:
        bench = Bench(arguments.folder, arguments.rounds, progress)
        for dialect in arguments.databases:
            # As the gateway runs, with its own rules for collecting garbage.
            wait_for(bench.run(dialect, arguments.sizes))
    checks = make_checks(bench.reads, bench.writes)
    tables = (reads_table(bench.reads), writes_table(bench.writes), checks_table(checks))
    print("\n\n".join(tables))
    sys.exit(any(not check.is_met for check in checks))


def _sizes(text: str) -> list[int]:
    return sorted(int(each.rstrip("kM")) * UNITS.get(each[-1], 1) for each in text.split(","))


if __name__ == "__main__":
    main()
