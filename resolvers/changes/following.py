"""Following the feed: its pages as changes are committed, for as long as the caller may read them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Generic, Self, TypeVar
from uuid import UUID

from oauth.authentication import authenticate, authenticate_session
from oauth.principals import Principal, PrincipalKind
from resolvers.changes.changes import get_changes, get_latest_change, workspace_of
from resolvers.changes.readable import SCOPES
from resolvers.operations.context import Context
from resolvers.operations.declaration import Operation, operation_of, requires
from resolvers.operations.live import Item, Live, LivePage, read_once
from resolvers.operations.runner import run
from schema.changes.changes import (
    FOLLOWED_AT_A_TIME,
    Change,
    ChangePage,
    ChangeQuery,
    ChangeStreamQuery,
    LatestChangeQuery,
    write_position,
)
from schema.changes.live import ChangeEvent, ChangeSubscriptionQuery
from schema.errors import AnswerTooLarge, InsufficientScope, InvalidToken, NotFound, RateLimited, Unavailable
from storage.changes.followers import MOST_OF_ONE, Follower, Full

# A credential that is revoked, or a member who is removed, reads nothing after 5 seconds.
SECONDS_BETWEEN_CHECKS = 3
SECONDS_BETWEEN_BEATS = 15
# Beside many changes, one page has several of them.
SECONDS_BETWEEN_READS = 0.05
# Of a page; beyond that, later pages have fewer changes.
MOST_BYTES = 1024 * 1024
RETRY_AFTER_SECONDS = 5

Result = TypeVar("Result")
# Reads the page after a position.
Read = Callable[[str], Awaitable[LivePage[Item]]]


class Following(Generic[Item]):
    """One stream of a workspace's log, from a page on. Close it at its end.

    `read` reads the page after a position, at most each `seconds_between_reads`.
    """

    def __init__(
        self,
        ctx: Context,
        follower: Follower,
        read: Read[Item],
        page: LivePage[Item],
        *,
        seconds_between_reads: float,
    ) -> None:
        self._ctx, self._follower, self._read, self._page = ctx, follower, read, page
        self._seconds_between_reads = seconds_between_reads
        self._clock = asyncio.get_running_loop().time
        self._checked_at = self._clock()
        self.principal = ctx.principal

    async def pages(self) -> AsyncIterator[LivePage[Item] | None]:
        """Pages as they are read, and None each time that there were no changes for 15 seconds.

        Ends with the process or the client. Raises `Failure` when the caller may read no more.
        """
        clock = self._clock
        told_at = read_at = clock()
        follower, page = self._follower, self._page
        yield page
        follower.position = int(page.end)
        while not follower.has_ended:
            if not page.has_more:
                due_at = min(self._checked_at + SECONDS_BETWEEN_CHECKS, told_at + SECONDS_BETWEEN_BEATS)
                await follower.rest(max(0.0, due_at - clock()))
            await self.check()
            if not follower.has_ended and (follower.is_woken() or page.has_more):
                await asyncio.sleep(max(0.0, read_at + self._seconds_between_reads - clock()))
                read_at = clock()
                page = await self._read(page.end)
                told_at = clock() if page.data else told_at
                yield page
                follower.position = int(page.end)
            if clock() - told_at >= SECONDS_BETWEEN_BEATS:
                told_at = clock()
                yield None

    @property
    def position(self) -> str:
        """How far the log was read when the last page was sent."""
        return write_position(self._follower.position)

    async def read_once(self, key: Hashable, work: Callable[[], Awaitable[Result]]) -> Result:
        """What `work` reads for the caller: once for all streams of the workspace with an equal caller."""
        own = (self._ctx.principal, key)
        return await self._ctx.services.followers.read_once(self._follower.workspace_id, own, work)

    async def charge(self, sent: int) -> None:
        """Charge what the stream has sent so far, in bytes, and what the database has worked for it."""
        await self._ctx.caller.budget.charge_answer(sent)
        await self._ctx.caller.budget.charge_database()

    @property
    def request_id(self) -> str:
        return self._ctx.caller.request_id

    def end(self) -> None:
        """Have the pages end."""
        self._follower.end()

    def close(self) -> None:
        """Give the stream's place to another one."""
        self._follower.close()

    async def check(self) -> None:
        """Raises `InvalidToken`, `InsufficientScope` or `NotFound` if the caller may no longer read.

        That is looked up every three seconds, however often it is asked.
        """
        if self._clock() - self._checked_at < SECONDS_BETWEEN_CHECKS:
            return
        self._checked_at = self._clock()
        principal = await self._present_principal()
        if principal is None:
            raise InvalidToken
        lost = self._ctx.principal.scopes - principal.scopes
        if lost:
            raise InsufficientScope(tuple(sorted(lost)))
        if self._follower.workspace_id not in principal.all_workspace_ids:
            raise NotFound("There is no such workspace.")
        self.principal = principal

    async def _present_principal(self) -> Principal | None:
        # Only callers with a credential follow changes, and no credential is empty.
        credential, database = self._ctx.caller.credential or "", self._ctx.services.database
        if self._ctx.principal.kind is PrincipalKind.BROWSER_SESSION:
            return await authenticate_session(database, credential)
        return await authenticate(database, credential)


class _Feed:
    """Reads the pages of the feed that follow each other."""

    def __init__(self, operation: Operation, ctx: Context, query: ChangeQuery, workspace_id: UUID) -> None:
        shared = partial(ctx.services.followers.read_once, workspace_id)
        self._operation, self._ctx, self._query = operation, replace(ctx, shared=shared), query
        self._kinds = None if query.kind is None else tuple(query.kind)
        self.workspace_id = workspace_id

    @classmethod
    async def of(cls, operation: Operation, ctx: Context, asked: ChangeStreamQuery) -> Self:
        """The feed that is asked for. Raises `NotFound`, or `Invalid` if there is no default workspace."""
        workspace_id = await workspace_of(ctx, asked)
        query = ChangeQuery.model_construct(
            workspace_id=workspace_id,
            kind=asked.kind,
            resource_id=asked.resource_id,
            limit=FOLLOWED_AT_A_TIME,
        )
        return cls(operation, ctx, query, workspace_id)

    async def page(self, after: str) -> LivePage[Change]:
        while True:
            limit = self._query.limit
            key = (
                self._ctx.principal,
                self._ctx.selection,
                self._kinds,
                self._query.resource_id,
                limit,
                after,
            )
            try:
                page, bytes_read = await read_once(self._ctx, key, partial(self._read, after))
            except AnswerTooLarge:
                if limit == 1:
                    raise
                self._read_fewer()
                continue
            if bytes_read > MOST_BYTES:
                self._read_fewer()
            return page

    async def events(self, after: str) -> LivePage[ChangeEvent]:
        """The same as the subscription tells it."""
        page = await self.page(after)
        events = [ChangeEvent.made(change=change) for change in page.data]
        return LivePage(events, page.end, page.has_more)

    async def _read(self, after: str) -> tuple[LivePage[Change], int]:
        """A page, and how many bytes were read for it."""
        # What one request may read and write is counted for each page.
        caller = replace(self._ctx.caller, bytes_read=0, bytes_written=0, watch=None)
        query = self._query.model_copy(update={"after": after})
        page: ChangePage = await run(self._operation, replace(self._ctx, caller=caller), {"filters": query})
        return LivePage(page.data, page.meta.next_cursor, page.meta.has_more), caller.bytes_read

    def _read_fewer(self) -> None:
        self._query = self._query.model_copy(update={"limit": max(1, self._query.limit // 2)})


async def follow(operation: Operation, ctx: Context, arguments: Mapping[str, Any]) -> Following[Change]:
    """Begin to follow the feed, which `operation` reads, with the arguments of a stream.

    Raises what the feed raises, `RateLimited` for a caller with ten streams and `Unavailable` for a process
    that has as many as it may have.
    """
    asked: ChangeStreamQuery = arguments["filters"]
    feed = await _Feed.of(operation, ctx, asked)
    return await begin(ctx, feed.workspace_id, asked.after, feed.page, SECONDS_BETWEEN_READS)


async def begin(
    ctx: Context, workspace_id: UUID, after: str | None, read: Read[Item], seconds_between_reads: float
) -> Following[Item]:
    """Begin to follow the log of a workspace after a position, or else with the next change.

    Raises what `read` raises, and for too many streams what `follow` raises.
    """
    follower = _open(ctx, workspace_id)
    try:
        if after is None:
            after = (await get_latest_change(ctx, LatestChangeQuery(workspace_id=workspace_id))).position
        follower.position = int(after)
        page = await read(after)
    except BaseException:
        follower.close()
        raise
    return Following(ctx, follower, read, page, seconds_between_reads=seconds_between_reads)


@requires(None, any_of=SCOPES)
async def stream_changes(ctx: Context, filters: ChangeSubscriptionQuery) -> Live[ChangeEvent]:
    """Tells each change of a workspace once it is committed, in the order of their positions.

    A client that was cut goes on with the last position as `after`, and misses nothing. The kinds and
    refusals are those of the query `changes`.
    """
    paths = [] if ctx.selection is None else [path.replace("change", "data", 1) for path in ctx.selection]
    chosen, asked = replace(ctx, selection=frozenset(paths)), filters.as_stream()
    feed = await _Feed.of(operation_of(get_changes), chosen, asked)
    return await begin(chosen, feed.workspace_id, asked.after, feed.events, SECONDS_BETWEEN_READS)


def _open(ctx: Context, workspace_id: UUID) -> Follower:
    wait = {"Retry-After": str(RETRY_AFTER_SECONDS)}
    try:
        return ctx.services.followers.add(ctx.principal.subject, workspace_id)
    except Full as full:
        if full.of_one:
            message = f"A caller may have {MOST_OF_ONE} streams open at a time: close one of them."
            raise RateLimited(message, wait) from None
        message = "This process serves as many streams as it can. Try again in a moment."
        raise Unavailable(message, wait) from None
