"""Reads the statements of operations that run at a time as one, whenever all of them wait for an answer."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import suppress
from contextvars import copy_context
from types import coroutine
from typing import Any, Generic, TypeAlias, TypeVar

from resolvers.operations.context import Context
from resolvers.operations.wishes import RowsOf, Wish
from storage.dialects.json_rows import LinesTooLong
from storage.engine.outages import is_outage
from storage.engine.statements.joined import can_join, joined

Result = TypeVar("Result")
Begin: TypeAlias = Callable[[Context], Coroutine[Any, Any, Result]]


class _Operation(Generic[Result]):
    """An operation in the task of its request, which runs it until it ends or has a wish.

    A task for each would cost more than the rest of a short read.
    """

    __slots__ = ("_coroutine", "_run", "error", "has_ended", "result", "wish")

    def __init__(self, operation: Coroutine[Any, Any, Result]) -> None:
        self._coroutine = operation
        # What it notes in context variables is not noted for the others.
        self._run = copy_context().run
        self.wish: Wish | None = None
        self.error: Exception | None = None
        self.has_ended = False

    def begin(self) -> Awaitable[None]:
        return self._go_on(self._coroutine.send, None)

    def answer(self) -> Awaitable[None]:
        """Go on with what was wished for."""
        if not isinstance(self.wish, RowsOf):
            return self._go_on(self._coroutine.send, None)
        if self.wish.error is not None:
            return self._go_on(self._coroutine.throw, self.wish.error)
        return self._go_on(self._coroutine.send, self.wish.rows)

    async def go_apart(self, ctx: Context) -> None:
        """Run to its end, reading alone."""
        while not self.has_ended:
            if isinstance(self.wish, RowsOf):
                async with ctx.caller.turn():
                    await _read_alone(ctx, self.wish)
            await self.answer()

    async def cancel(self) -> None:
        while not self.has_ended:
            with suppress(asyncio.CancelledError):
                await self._go_on(self._coroutine.throw, asyncio.CancelledError())

    def value(self) -> Result:
        if self.error is not None:
            raise self.error
        result: Result = self.result
        return result

    @coroutine
    def _go_on(self, step: Callable[[Any], Any], value: Any) -> Generator[Any, Any, None]:
        self.wish, self.has_ended = None, True
        try:
            waits_for = self._run(step, value)
            while not isinstance(waits_for, Wish):
                # Whatever else it waits for is waited for here, as if it had been awaited.
                try:
                    value = yield waits_for
                except BaseException as error:  # noqa: BLE001 - the operation's own
                    waits_for = self._run(self._coroutine.throw, error)
                else:
                    waits_for = self._run(self._coroutine.send, value)
        except StopIteration as end:
            self.result = end.value
        except Exception as error:  # noqa: BLE001 - raised when all have ended
            self.error = error
        else:
            self.wish, self.has_ended = waits_for, False


async def run_together(ctx: Context, operations: Sequence[Begin[Result]]) -> list[Result]:
    """The results of operations in their contexts. Raises the first error when all have ended.

    They have also ended if the request is cancelled. The statements that they wish for are read as one
    whenever none goes on without; only those that take a connection for themselves run beside it.
    """
    own = Context(ctx.services, ctx.caller, ctx.outcome, is_together=True)
    running = [_Operation(operation(own)) for operation in operations]
    apart: list[asyncio.Task[None]] = []
    try:
        await _run(ctx, running, apart)
    except BaseException:
        await _cancel(running, apart)
        raise
    return [each.value() for each in running]


async def _run(ctx: Context, running: Sequence[_Operation[Any]], apart: list[asyncio.Task[None]]) -> None:
    go_on = _Operation.begin
    while running:
        waiting: list[_Operation[Any]] = []
        wishes: list[RowsOf] = []
        for each in running:
            await go_on(each)
            if isinstance(each.wish, RowsOf):
                waiting.append(each)
                wishes.append(each.wish)
            elif each.wish is not None:
                apart.append(_begin_apart(ctx, each))
        if wishes:
            async with ctx.caller.turn():
                await _read(ctx, wishes)
        running, go_on = waiting, _Operation.answer
    if apart:
        await asyncio.wait(apart)
        for task in apart:
            task.result()


async def _cancel(running: Sequence[_Operation[Any]], apart: Sequence[asyncio.Task[None]]) -> None:
    for task in apart:
        task.cancel()
    try:
        if apart:
            await asyncio.wait(apart)
    finally:
        for each in running:
            await each.cancel()


def _begin_apart(ctx: Context, operation: _Operation[Any]) -> asyncio.Task[None]:
    if ctx.caller.units is None:
        ctx.caller.limit_units()
    return asyncio.create_task(operation.go_apart(ctx))


async def _read(ctx: Context, asked: Sequence[RowsOf]) -> None:
    """Answer all; an error is that of the operation that asked."""
    database = ctx.services.database
    groups = defaultdict(list)
    for place, each in enumerate(asked):
        is_alone = not can_join(each.kept, database.dialect)
        from_replica = database.replica is not None and each.replica
        groups[place if is_alone else None, from_replica].append(each)
    for group in groups.values():
        await _read_joined(ctx, group)


async def _read_joined(ctx: Context, asked: Sequence[RowsOf]) -> None:
    if len(asked) == 1:
        await _read_alone(ctx, asked[0])
        return
    text, kept = joined([each.kept for each in asked], ctx.services.database.dialect)
    values = {str(number): each.values for number, each in enumerate(asked)}
    try:
        (row,) = await ctx.fetch(kept, values, replica=asked[0].replica)
    except Exception as error:  # noqa: BLE001 - each operation reports its own
        # One answer that is too long is enough to refuse the whole.
        if is_outage(error) or isinstance(error, LinesTooLong):
            for each in asked:
                each.error = error
            return
        # Only one of the statements may be at fault.
        for each in asked:
            await _read_alone(ctx, each)
        return
    for each, rows in zip(asked, text.split(row), strict=True):
        each.rows = rows


async def _read_alone(ctx: Context, asked: RowsOf) -> None:
    try:
        asked.rows = await ctx.fetch(asked.kept, asked.values, replica=asked.replica)
    except Exception as error:  # noqa: BLE001 - the operation reports it
        asked.error = error
