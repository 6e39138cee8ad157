"""How much memory this process takes at most during a block, whatever allocates it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_SELF = Path("/proc/self")
# The kernel then counts the most pages anew.
_FORGET_PEAK = "5"


@dataclass
class Memory:
    """Bytes beyond those at the beginning of the block."""

    most: int = 0


@contextmanager
def measured_memory() -> Iterator[Memory]:
    """The memory of the block, with everything else that the process does meanwhile."""
    (_SELF / "clear_refs").write_text(_FORGET_PEAK)
    before, memory = _kilobytes("VmRSS"), Memory()
    yield memory
    memory.most = (_kilobytes("VmHWM") - before) * 1024


def _kilobytes(name: str) -> int:
    lines = (_SELF / "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))
