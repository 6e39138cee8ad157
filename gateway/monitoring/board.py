"""The board in memory that the processes of one gateway share: each pins its samples to a place of its own.

A process that is killed leaves its counters on its place, and the next one on the place goes on from them.
"""

import mmap
import struct

from gateway.monitoring.numbers import Sample, combined, lasting, packed, unpacked

PLACES = 300
# Several times what all operations with all outcomes take. Memory that is never written costs nothing.
BYTES_OF_A_SIDE = 512 * 1024
BYTES_OF_A_PLACE = 2 * BYTES_OF_A_SIDE + 2

_LENGTH = struct.Struct("<I")
# A place begins with a byte that is 1 while its process runs, and one that says which side holds.
_RUNS, _SIDE, _SIDES = 0, 1, 2


class Board:
    """Made before the processes are forked. `place` is the process's own; the parent has none.

    A process writes the side that does not hold and then turns the place over, so that others never read
    half a writing, even if it is killed meanwhile.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, PLACES * BYTES_OF_A_PLACE)
        self.place: int | None = None
        self._before: list[Sample] = []

    def take(self, place: int) -> None:
        """Begin on a place whose last process has ended. Processes beyond the places are not counted."""
        if place < PLACES:
            self.place = place
            self._before = lasting(self._read(place))

    def free(self, place: int) -> None:
        """Note that the process of the place has ended: its gauges no longer hold."""
        if place < PLACES:
            self._memory[place * BYTES_OF_A_PLACE + _RUNS] = False

    def pin(self, samples: list[Sample]) -> None:
        """Replace what is on the process's own place by these samples and those of its predecessors."""
        if self.place is None:
            return
        content = packed(combined([*self._before, *samples]) if self._before else samples)
        if len(content) > BYTES_OF_A_SIDE - _LENGTH.size:
            return
        start = self.place * BYTES_OF_A_PLACE
        side = 1 - self._memory[start + _SIDE]
        written = start + _SIDES + side * BYTES_OF_A_SIDE
        _LENGTH.pack_into(self._memory, written, len(content))
        self._memory[written + _LENGTH.size : written + _LENGTH.size + len(content)] = content
        self._memory[start + _SIDE] = side
        self._memory[start + _RUNS] = True

    def read(self) -> list[Sample]:
        """The samples of all processes, and what those that ended left behind."""
        samples: list[Sample] = []
        for place in range(PLACES):
            found = self._read(place)
            samples += found if self._memory[place * BYTES_OF_A_PLACE + _RUNS] else lasting(found)
        return combined(samples)

    def _read(self, place: int) -> list[Sample]:
        start = place * BYTES_OF_A_PLACE
        held = start + _SIDES + self._memory[start + _SIDE] * BYTES_OF_A_SIDE
        (length,) = _LENGTH.unpack_from(self._memory, held)
        content = self._memory[held + _LENGTH.size : held + _LENGTH.size + length]
        return unpacked(content) if content else []
