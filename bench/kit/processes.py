"""What processes use: processor time and memory of a process and its descendants, and the machine's rest."""

import os
import platform
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import monotonic

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_CORES = os.cpu_count() or 1
# Quiet: all processes that are not part of the measurement use less than this part of one core.
QUIET_CORES = 0.1


def tree(pid: int) -> list[int]:
    """The process and all its descendants."""
    pids = [pid]
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            pids += [each for child in children.read_text().split() for each in tree(int(child))]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return pids


def processor_seconds(pid: int) -> float:
    """Processor time of the living threads of a process and its descendants, in nanosecond steps.

    `/proc/PID/stat` counts in ticks of 10 ms, too coarse for twenty database processes.
    """
    nanoseconds = 0
    for each in tree(pid):
        for file in Path(f"/proc/{each}/task").glob("*/schedstat"):
            try:
                nanoseconds += int(file.read_text().split()[0])
            except (FileNotFoundError, ProcessLookupError):
                continue
    return nanoseconds / 1e9


def memory_mib(pid: int) -> float:
    """Memory of a process and its descendants in MiB; pages that several share are counted once."""
    kib = 0
    for each in tree(pid):
        for line in Path(f"/proc/{each}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                kib += int(line.split()[1])
    return kib / 1024


@dataclass(frozen=True)
class Moment:
    """Processor seconds since the start of the machine, and this process's clock."""

    clock: float
    busy: float
    own: float

    @classmethod
    def now(cls) -> "Moment":
        """`own` counts this process, and its children that have ended, such as wrk."""
        fields = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        user, nice, system, _idle, _waiting, interrupts, soft_interrupts, _stolen = fields
        busy = (user + nice + system + interrupts + soft_interrupts) / _TICKS_PER_SECOND
        times = os.times()
        return cls(monotonic(), busy, times[0] + times[1] + times[2] + times[3])

    def cores_of_others(self, later: "Moment", measured: float) -> float:
        """The cores that processes other than this one and the `measured` ones used until `later`."""
        others = (later.busy - self.busy) - (later.own - self.own) - measured
        return max(0.0, others / (later.clock - self.clock))


def versions() -> str:
    """The day, the commit, and the versions of what decides the speed."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    packages = ("asyncpg", "uvloop", "uvicorn", "orjson", "SQLAlchemy", "strawberry-graphql")
    named = [f"{package} {version(package)}" for package in packages]
    python = f"Python {platform.python_version()}"
    return ", ".join([str(datetime.now(UTC).date()), f"commit {commit}", python, *named])


def machine() -> str:
    """The machine in one line, without its name."""
    model = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        "unknown processor",
    )
    total = Path("/proc/meminfo").read_text().split()[1]
    return f"{_CORES} cores ({model}), {int(total) // 1024**2} GiB"
