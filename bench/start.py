"""How fast commands start: the help, and `duograph serve` until it has answered its first requests.

Targets are for processor time, which other processes change least; the clock is shown beside it. A start that
is not counted comes first and writes the bytecode.
"""

import os
import subprocess
import sys
from statistics import median
from time import monotonic

from bench.kit.client import Client
from bench.kit.options import options
from bench.kit.processes import machine, processor_seconds
from bench.kit.report import table
from bench.kit.servers import COMMAND, Site, gateway, inherited, site
from bench.reference import COMMANDS, Pace, work_seconds

HELP = ("--help", "users --help", "workspaces status --help")
# Of processor time on the reference machine. The help of a noun has no target: Typer reads its arguments by
# pydantic.
MOST_SECONDS = {"duograph --help": 0.4, "duograph serve": 2.5}
QUERY = "{ shares(limit: 10) { data { id name prices { amountType } } meta { total } } }"

# Seconds of processor time and of the clock.
Seconds = tuple[float, float]


def help_of(words: str) -> Seconds:
    """What the command needs to print its help."""
    before, began = os.times(), monotonic()
    subprocess.run([COMMAND, *words.split()], env=inherited(), check=True, capture_output=True)
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


def main() -> None:
    rounds = options(__doc__, rounds=5).rounds
    help_of(HELP[0])
    works = [work_seconds() for _ in range(rounds)]
    starts = {f"duograph {words}": [help_of(words) for _ in range(rounds)] for words in HELP}
    with site("sqlite") as made:
        starts["duograph serve"] = [first_answers(made) for _ in range(rounds)]
    pace = Pace.of([*works, *(work_seconds() for _ in range(rounds))], COMMANDS)
    rows, checks = [], []
    for command, times in starts.items():
        processor, clock = map(median, zip(*times, strict=True))
        stated = MOST_SECONDS.get(command)
        checks.append(pace.check(command, "processor", processor, stated))
        rows.append([f"`{command}`", f"{processor:.2f}", f"{clock:.2f}", *pace.targets(checks[-1], stated)])
    print(f"Start, medians of {rounds}; {machine()}\n")
    print(table(["command", "processor s", "clock s", "stated target, processor", "target here", ""], rows))
    print(f"\n{pace}")
    sys.exit(not all(check.is_met for check in checks))


if __name__ == "__main__":
    main()
