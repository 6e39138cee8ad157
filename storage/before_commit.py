"""Work that a transaction leaves to its end, so that it is done once for all the rows that were changed."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar
from weakref import WeakKeyDictionary

from storage.connections import Connection


class Work(Protocol):
    """Something that gathers until the transaction ends."""

    async def finish(self, connection: Connection) -> None:
        """Write what was gathered, as the transaction's last statements."""


Kind = TypeVar("Kind", bound=Work)

_unfinished: WeakKeyDictionary[Connection, dict[Callable[[], Work], Work]] = WeakKeyDictionary()


@asynccontextmanager
async def finishing(connection: Connection) -> AsyncIterator[None]:
    """The body of a transaction: finishes its work unless the block raises."""
    works = _unfinished[connection] = {}
    try:
        yield
        for work in works.values():
            await work.finish(connection)
    finally:
        del _unfinished[connection]


def work_of(connection: Connection, kind: Callable[[], Kind]) -> Kind:
    """The transaction's work of this kind, made at the first call.

    Raises `RuntimeError` outside `Database.write`, where nothing would finish it.
    """
    works = _unfinished.get(connection)
    if works is None:
        raise RuntimeError("Counted rows change only inside `Database.write`.")
    work = works.get(kind)
    if work is None:
        work = works[kind] = kind()
    return work  # type: ignore[return-value]
