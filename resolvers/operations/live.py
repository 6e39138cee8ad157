"""What operations answer that go on: pages of items as they come, until something ends them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from oauth.principals import Principal
from resolvers.operations.context import Context

Item = TypeVar("Item")
Result = TypeVar("Result")
Item_co = TypeVar("Item_co", covariant=True)


class LivePage(NamedTuple, Generic[Item_co]):
    """Items that came together; `end` is the position after which the next page begins."""

    data: Sequence[Item_co]
    end: str
    has_more: bool


class Live(Protocol[Item_co]):
    """One reader of what goes on. Close it at its end."""

    @property
    def principal(self) -> Principal:
        """The caller, as it was looked up last."""

    def pages(self) -> AsyncIterator[LivePage[Item_co] | None]:
        """Pages as they come, and None when there was nothing for a while.

        Ends with the process or the client. Raises `Failure` when the caller may read no more.
        """

    async def check(self) -> None:
        """Raises `Failure` when the caller may read no more, which is looked up every few seconds.

        Whoever reads more for an item calls it first: a slow client has a page for as long as it likes.
        """

    async def charge(self, sent: int) -> None:
        """Charge what was sent so far, in bytes, and what the database has worked for it."""

    def end(self) -> None:
        """Have the pages end."""

    def close(self) -> None:
        """Give its place to another one."""


async def read_once(ctx: Context, key: Hashable, work: Callable[[], Awaitable[Result]]) -> Result:
    """What `work` reads; in a stream, once for all streams that read the same, as `key` says."""
    if ctx.shared is None:
        return await work()
    result: Result = await ctx.shared(key, work)
    return result
