"""How fast commands start: the help, and `duograph serve` until it has answered its first requests.

Targets are for processor time, which other processes change least; the clock is shown beside it. A start that
is not counted comes first and writes the bytecode.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import monotonic

from bench.client import Client
from bench.processes import machine, processor_seconds
from bench.reference import COMMANDS, Pace, work_seconds
from bench.report import table
from bench.servers import Site, gateway, inherited, site

HELP = ("--help", "users --help", "workspaces status --help")
# Of processor time on the reference machine. The help of a noun has no target: Typer reads its arguments by
# pydantic.
MOST_SECONDS = {"duograph --help": 0.4, "duograph serve": 2.5}
QUERY = "{ shares(limit: 10) { data { id name prices { amountType } } meta { total } } }"

# Seconds of processor time and of the clock.
Seconds = tuple[float, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="starts of each; the table shows medians")
    rounds = parser.parse_args().rounds
    help_of(HELP[0])
    works = [work_seconds() for _ in range(rounds)]
    figures = {f"duograph {words}": [help_of(words) for _ in range(rounds)] for words in HELP}
    with tempfile.TemporaryDirectory() as folder, site(Path(folder), on_postgresql=False) as made:
        figures["duograph serve"] = [first_answers(made) for _ in range(rounds)]
    pace = Pace.of([*works, *(work_seconds() for _ in range(rounds))], COMMANDS)
    checks = [
        pace.check(command, "processor", median(used for used, _ in starts), MOST_SECONDS.get(command))
        for command, starts in figures.items()
    ]
    rows = []
    for check, starts in zip(checks, figures.values(), strict=True):
        processor, clock = (f"{median(times):.2f}" for times in zip(*starts, strict=True))
        targets = pace.targets(check, MOST_SECONDS.get(check.what))
        rows.append([f"`{check.what}`", processor, clock, *targets])
    print(f"Start, medians of {rounds}; {machine()}\n")
    print(table(["command", "processor s", "clock s", "stated target, processor", "target here", ""], rows))
    print(f"\n{pace}")
    sys.exit(not all(check.is_met for check in checks))


def help_of(words: str) -> Seconds:
    """What the command needs to print its help."""
    command = [str(Path(sys.executable).parent / "duograph"), *words.split()]
    before, began = os.times(), monotonic()
    subprocess.run(command, env=inherited(), check=True, capture_output=True)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return used, monotonic() - began


def first_answers(made: Site) -> Seconds:
    """What `serve` needs until it has answered `/health`, a list over REST and the list over GraphQL."""
    began = monotonic()
    with gateway(made) as server:
        client = Client(server.address, made.token)
        client.get("/health")
        client.get("/api/shares/?limit=10")
        client.post("/graphql", {"query": QUERY})
        return processor_seconds(server.pid), monotonic() - began


if __name__ == "__main__":
    main()
