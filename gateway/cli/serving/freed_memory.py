"""What happens to memory that the process frees: large pieces go back to the system at once."""

import ctypes
from contextlib import suppress

# Of glibc's `mallopt`.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
LARGE_BYTES = 1024 * 1024
# Free memory at the end of the heap that stays with the process, so that no small answer asks the system.
KEPT_BYTES = 8 * 1024 * 1024


def give_back_large_pieces() -> None:
    """Give pieces of a mebibyte or more a mapping of their own. Without glibc this does nothing.

    By itself, glibc puts pieces of up to 32 MiB into the heap once one of that size was freed. There they
    stay behind the first small piece that is still used.
    """
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, LARGE_BYTES)
        mallopt(_TRIM_THRESHOLD, KEPT_BYTES)
