"""Lets every fault befall the gateway and writes the table of `docs/faults.md` anew: `make faults`.

`ONLY` runs the faults whose names or databases contain it, and then the page stays as it is. `SEED` chooses
where the faults strike. Exits with 1 if a promise was broken.
"""

import asyncio
import logging
import os
import sys
import warnings
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from time import monotonic

from bench.kit.processes import machine
from bench.kit.report import renew
from tests.faults.catalogue import cases
from tests.faults.killed import NAMES, run_killed
from tests.faults.outcome import HEADER, Outcome, written
from tests.faults.stage import BOTH, run

# A migration has hundreds of statements, and an attempt takes seconds.
MOST_KILLS = 100
PAGE, START = Path(__file__).parents[2] / "docs" / "faults.md", "<!-- make faults -->"


def attempts(seed: int) -> Iterator[tuple[str, str, Callable[[], Awaitable[Outcome]]]]:
    """The name and the database of everything that is tried, and how it is."""
    for fault, database in cases():
        yield fault.name, database, partial(run, fault(), database, seed)
    for work, name in NAMES.items():
        for database in BOTH:
            yield name, database, partial(run_killed, work, database, seed, MOST_KILLS)


async def main() -> int:
    only, seed = os.environ.get("ONLY", ""), int(os.environ.get("SEED", "10"))
    lines, broken, begun = [written(HEADER), written(["---"] * len(HEADER))], 0, monotonic()
    print(*lines, sep="\n", flush=True)
    for name, database, attempt in attempts(seed):
        if only.lower() not in f"{name} {database}".lower():
            continue
        try:
            outcome = await attempt()
        except Exception as error:  # noqa: BLE001 - the other faults are to be seen too
            outcome = Outcome(name, database, problems=[f"{type(error).__name__}: {error}"])
        lines.append(written(outcome.row()))
        broken += bool(outcome.faults() + outcome.hangs()) or outcome.not_run is not None
        print(lines[-1], flush=True)
    seconds = monotonic() - begun
    summary = (
        f"{len(lines) - 2} faults in {seconds:.0f} seconds, with the seed {seed}; {broken} of them broke a "
        f"promise or were not run. {machine()}."
    )
    print(summary, file=sys.stderr)
    if not only:
        renew(PAGE, START, "\n".join([summary, "", *lines]))
    return int(broken > 0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    # The object store of the tests reports every request.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    # The receiver of webhooks reports each connection that a killed gateway leaves.
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)
    sys.exit(asyncio.run(main()))
