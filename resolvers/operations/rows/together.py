"""Reads the statements of operations that run at a time as one, whenever all of them wait for an answer."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from resolvers.operations.context import Context
from storage.dialects.json_rows import LinesTooLong
from storage.engine.outages import is_outage
from storage.engine.statements.joined import can_join, joined
from storage.engine.statements.kept import Kept

Result = TypeVar("Result")


class _Asked(NamedTuple):
    """A statement that an operation waits for; `replica`: a replica may answer it."""

    kept: Kept
    values: Mapping[str, Any]
    replica: bool
    rows: "asyncio.Future[Sequence[Any]]"

    def answer(self, rows: Sequence[Any]) -> None:
        """Go on with the operation, unless it was cancelled."""
        if not self.rows.done():
            self.rows.set_result(rows)

    def fail(self, error: Exception) -> None:
        if not self.rows.done():
            self.rows.set_exception(error)


class Together:
    """Collects the statements of `running` operations until none of these goes on without an answer.

    The operation that asks last reads for all. Only one statement runs at a time, so that a request takes no
    more connections than if its operations came one after the other.
    """

    def __init__(self, ctx: Context, running: int) -> None:
        self._ctx = ctx
        self._running = running
        self._asked: list[_Asked] = []
        self._reading: set[asyncio.Task[None]] = set()
        self.ended = asyncio.get_running_loop().create_future()

    async def fetch(self, kept: Kept, values: Mapping[str, Any], replica: bool) -> Sequence[Any]:
        """The rows of a statement, as the driver returns them."""
        asked = _Asked(kept, values, replica, asyncio.get_running_loop().create_future())
        self._asked.append(asked)
        if len(self._asked) == self._running:
            await self._read(self._take())
        return await asked.rows

    async def run(self, operation: Awaitable[Result]) -> Result:
        """The result of one of the operations."""
        try:
            return await operation
        finally:
            self._running -= 1
            if self._running == 0 and not self.ended.done():
                self.ended.set_result(None)
            if self._asked and len(self._asked) == self._running:
                task = asyncio.create_task(self._read(self._take()))
                self._reading.add(task)
                task.add_done_callback(self._reading.discard)

    async def end(self) -> None:
        """Stop reading for operations that were cancelled."""
        for task in self._reading:
            task.cancel()
        if self._reading:
            await asyncio.wait(self._reading)

    def _take(self) -> list[_Asked]:
        asked, self._asked = self._asked, []
        return asked

    async def _read(self, asked: Sequence[_Asked]) -> None:
        """Answer all; an error is that of the operation that asked."""
        try:
            groups, database = defaultdict(list), self._ctx.services.database
            for place, each in enumerate(asked):
                is_alone = not can_join(each.kept, database.dialect)
                from_replica = database.replica is not None and each.replica
                groups[place if is_alone else None, from_replica].append(each)
            for group in groups.values():
                await self._read_joined(group)
        finally:
            for each in asked:
                each.rows.cancel()

    async def _read_joined(self, asked: Sequence[_Asked]) -> None:
        if len(asked) == 1:
            await self._read_alone(asked[0])
            return
        text, kept = joined([each.kept for each in asked], self._ctx.services.database.dialect)
        values = {str(number): each.values for number, each in enumerate(asked)}
        try:
            (row,) = await self._ctx.fetch(kept, values, replica=asked[0].replica)
        except Exception as error:  # noqa: BLE001 - each operation reports its own
            # One answer that is too long is enough to refuse the whole.
            if is_outage(error) or isinstance(error, LinesTooLong):
                for each in asked:
                    each.fail(error)
                return
            # Only one of the statements may be at fault.
            for each in asked:
                await self._read_alone(each)
            return
        for each, rows in zip(asked, text.split(row), strict=True):
            each.answer(rows)

    async def _read_alone(self, asked: _Asked) -> None:
        try:
            asked.answer(await self._ctx.fetch(asked.kept, asked.values, replica=asked.replica))
        except Exception as error:  # noqa: BLE001 - the operation reports it
            asked.fail(error)


async def run_together(
    ctx: Context, operations: Sequence[Callable[[Context], Awaitable[Result]]]
) -> list[Result]:
    """The results of operations in their contexts. Raises the first error when all have ended.

    They have also ended if the request is cancelled.
    """
    ctx.caller.limit_units()
    together = Together(ctx, len(operations))
    own = Context(ctx.services, ctx.caller, ctx.outcome, fetch_together=together.fetch)
    tasks = [asyncio.create_task(together.run(operation(own))) for operation in operations]
    try:
        await together.ended
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        await together.end()
        raise
    return [task.result() for task in tasks]
