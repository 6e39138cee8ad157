"""What an operation that runs with others wishes of the one who runs them, `rows/together.py`.

It must be awaited in the operation itself, neither in a task nor under a time-out: the task is its request's.
"""

from collections.abc import Generator, Mapping, Sequence
from types import coroutine
from typing import Any

from storage.engine.statements.kept import Kept


class Wish:
    """What an operation waits for that is no future."""

    __slots__ = ()


class RowsOf(Wish):
    """The `rows` of a kept statement, or an `error`; `replica`: a replica may answer it."""

    __slots__ = ("error", "kept", "replica", "rows", "values")

    def __init__(self, kept: Kept, values: Mapping[str, Any], replica: bool) -> None:
        self.kept, self.values, self.replica = kept, values, replica
        self.rows: Sequence[Any] = ()
        self.error: Exception | None = None


class Apart(Wish):
    """To go on in a task of its own, beside the others: it is about to take a connection for itself."""

    __slots__ = ()


@coroutine
def wish_for_rows(
    kept: Kept, values: Mapping[str, Any], replica: bool
) -> Generator[Wish, Any, Sequence[Any]]:
    """The rows, as the driver returns them."""
    rows: Sequence[Any] = yield RowsOf(kept, values, replica)
    return rows


@coroutine
def wish_to_go_apart() -> Generator[Wish, Any, None]:
    """Returns in a task of its own."""
    yield Apart()
