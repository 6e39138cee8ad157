"""Delivery: several processes at once claim what endpoints are due, and try each until it is accepted.

A worker for each endpoint sends a few deliveries at a time, so a receiver that hangs keeps no other waiting.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import partial
from time import monotonic
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement

from gateway.background.tasks import TASK_NAME
from gateway.webhooks.permission import Permission
from gateway.webhooks.recording import Made, record
from gateway.webhooks.rests import Rests
from oauth.scopes import Scope
from resolvers.operations.context import Services
from resolvers.webhooks.health import ENDED, disable, skip_pending
from resolvers.webhooks.makers import present_scopes, told_kinds
from resolvers.webhooks.payloads import read_payloads
from resolvers.webhooks.secrets import open_secrets
from schema.webhooks.services import Attempt, Message
from storage.changes.numbering import SECONDS_BETWEEN_TRIES, number_own
from storage.clock import now
from storage.engine.connections import Connection
from storage.queues.webhooks import (
    EndpointKey,
    claim_deliveries,
    endpoints_behind,
    endpoints_with_work,
    follow,
    has_work,
    is_full,
    workspaces_told,
)
from storage.rows.rows import first, table_of
from storage.tables.webhooks.deliveries import WebhookDeliveryRow
from storage.tables.webhooks.endpoints import WebhookEndpointRow

# How often all endpoints are looked at, also those of which other processes know more.
LOOKS_EVERY_SECONDS = 1
# Together they bound how many connections are open.
AT_A_TIME, MOST_WORKERS = 10, 64
# A receiver that accepted everything within a second is claimed more for, up to so many, ten at a time still.
QUICK_SECONDS, MOST_CLAIMED = 1, 80
# With the time of an attempt, less than a lease.
SECONDS_TO_BEGIN = 20
# A receiver that let a whole batch wait until the end of its time is tried again after so long.
SECONDS_AFTER_HANGING = 30
# With as much pending as it may have, an endpoint has room again once a batch was sent.
SECONDS_WITHOUT_ROOM = 5
# For so long, an endpoint that another process has made is found by the looks of each second only.
SECONDS_NOTED = 5

_endpoints = table_of(WebhookEndpointRow)


class Work(NamedTuple):
    """Claimed deliveries to an endpoint, with what it may be told and the secrets that sign."""

    endpoint: WebhookEndpointRow
    scopes: frozenset[Scope]
    secrets: Sequence[bytes]
    deliveries: Sequence[WebhookDeliveryRow]


class Delivery:
    """Delivers the webhooks of one database.

    `clock` is the present moment, by which retries are planned.
    """

    def __init__(
        self,
        services: Services,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._services = services
        self._database = services.database
        self._clock = clock
        self._workers: dict[EndpointKey, asyncio.Task[None]] = {}
        self._hanging, self._full = Rests(), Rests()
        # Workspaces to look at before the next look at all of them.
        self._changed: set[UUID] = set()
        self._looks_at = 0.0
        self._told: frozenset[UUID] = frozenset()
        self._told_until = 0.0

    def concerns(self, workspace_ids: Collection[UUID] | None) -> bool:
        """Note the workspaces for the next look; None is for what may concern any.

        Returns whether one of them has an endpoint that is told.
        """
        if workspace_ids is None:
            self._told_until = self._looks_at = 0.0
            return True
        concerned = self._told.intersection(workspace_ids)
        self._changed |= concerned
        return bool(concerned)

    async def run(self) -> bool:
        """Turn changes into deliveries, and start workers for endpoints with work that have none.

        Returns whether changes are left. Workers go on in the background.
        """
        await self._note_told()
        workspace_ids = self._next_look()
        more = await self._follow(workspace_ids)
        self._end_workers()
        busy = [*(key.id for key in self._workers), *self._hanging.ids()]
        async with self._database.read() as connection:
            keys = await endpoints_with_work(connection, workspace_ids, besides=busy)
        for key in keys[: max(0, MOST_WORKERS - len(self._workers))]:
            worker = asyncio.create_task(self._work(key), name=f"{TASK_NAME}webhooks {key.id}")
            # What came for its endpoint while it ended is not left to the next look.
            worker.add_done_callback(partial(self._look_again, key))
            self._workers[key] = worker
        return more

    def _look_again(self, key: EndpointKey, _: "asyncio.Task[None]") -> None:
        self._services.webhooks.wake([key.workspace_id])

    def _next_look(self) -> set[UUID] | None:
        """The workspaces to look at now, or None for all of them."""
        changed, self._changed = self._changed, set()
        if monotonic() < self._looks_at:
            return changed
        self._looks_at = monotonic() + LOOKS_EVERY_SECONDS
        return None

    async def close(self) -> None:
        """End the workers; what they were sending is claimed again after its lease."""
        workers = list(self._workers.values())
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)

    async def _note_told(self) -> None:
        if monotonic() >= self._told_until:
            # Before it is read: an endpoint that is made meanwhile may be missing, and has it read again.
            self._told_until = monotonic() + SECONDS_NOTED
            try:
                async with self._database.read() as connection:
                    self._told = await workspaces_told(connection)
            except BaseException:
                self._told_until = 0.0
                raise
            # Commits during the reading were compared with what was read before.
            self._looks_at = 0.0

    async def _follow(self, workspace_ids: Collection[UUID] | None) -> bool:
        async with self._database.read() as connection:
            keys = await endpoints_behind(connection, workspace_ids, besides=self._full.ids())
        more = False
        for key in keys:
            async with self._database.write() as connection:
                pause = await self._follow_one(connection, key)
            if pause is not None:
                await asyncio.sleep(pause)
                self._changed.add(key.workspace_id)
                more = True
        return more

    async def _follow_one(self, connection: Connection, key: EndpointKey) -> float | None:
        """Make deliveries of the next changes; the seconds until more can be made, None if none is left."""
        endpoint = await _lock(connection, key)
        if endpoint is None or not endpoint.is_enabled:
            return None
        scopes = await present_scopes(connection, endpoint)
        if scopes is None:
            await disable(connection, endpoint, ENDED)
            return None
        if await is_full(connection, key):
            self._full.begin(key, SECONDS_WITHOUT_ROOM)
            return None
        is_numbered = await number_own(connection, key.workspace_id)
        more = await follow(connection, endpoint, told_kinds(endpoint, scopes))
        # Otherwise another transaction, usually the fold for some milliseconds, gives positions.
        pause = 0.0 if is_numbered else SECONDS_BETWEEN_TRIES
        return pause if more or not is_numbered else None

    def _end_workers(self) -> None:
        """Forget workers that have ended. Raises what one of them raised."""
        ended = [key for key, worker in self._workers.items() if worker.done()]
        workers = [self._workers.pop(key) for key in ended]
        for worker in workers:
            worker.result()

    async def _work(self, key: EndpointKey) -> None:
        """Send what is due until nothing is; what was sent is recorded as the next is claimed."""
        most, made, url, is_over = AT_A_TIME, list[Made](), "", False
        while True:
            if not made:
                async with self._database.read() as connection:
                    if not await has_work(connection, key):
                        return
            async with self._database.write() as connection:
                if made:
                    current = await _lock(connection, key)
                    # What another URL answered says nothing of the present one.
                    same = current if current is not None and current.url == url else None
                    await record(connection, same, made, self._clock(), self._services.auth_url)
                work = None if is_over else await self._claim(connection, key, most)
            if self._full.end(key):
                # There is room for what waits in the log.
                self._services.webhooks.wake([key.workspace_id])
            if work is None:
                return
            begun, url = monotonic(), work.endpoint.url
            made = list(zip(work.deliveries, await self._send(work), strict=True))
            is_quick = monotonic() - begun < QUICK_SECONDS
            works = is_quick and all(attempt is not None and attempt.is_success for _, attempt in made)
            most = min(2 * most, MOST_CLAIMED) if works else AT_A_TIME
            is_over = self._gives_way(key, made, is_quick=is_quick)

    def _gives_way(self, key: EndpointKey, made: Sequence[Made], *, is_quick: bool) -> bool:
        """Whether another endpoint should have the place of this one after what was made."""
        if len(made) >= AT_A_TIME and all(attempt is not None and attempt.hangs for _, attempt in made):
            self._hanging.begin(key, SECONDS_AFTER_HANGING)
            return True
        return not is_quick and len(self._workers) >= MOST_WORKERS

    async def _claim(self, connection: Connection, key: EndpointKey, most: int) -> Work | None:
        """What to send to the endpoint now; None if there is nothing, or the endpoint is told no more."""
        endpoint = await _lock(connection, key)
        if endpoint is None or not endpoint.is_enabled:
            await skip_pending(connection, key)
            return None
        scopes = await present_scopes(connection, endpoint)
        if scopes is None:
            await disable(connection, endpoint, ENDED)
            return None
        if endpoint.document is not None:
            # What documents choose may be large.
            most = AT_A_TIME
        deliveries = await claim_deliveries(connection, key, most)
        if not deliveries:
            return None
        kinds = told_kinds(endpoint, scopes)
        if any(each.kind not in kinds for each in deliveries):
            await skip_pending(connection, endpoint, but=kinds)
        secrets = await open_secrets(connection, self._services.secret_key, endpoint)
        return Work(endpoint, scopes, secrets, [each for each in deliveries if each.kind in kinds])

    async def _send(self, work: Work) -> list[Attempt | None]:
        """The attempts; None for what could not be begun in time, and is claimed again."""
        # Reading what documents choose may wait, too.
        turns, end = asyncio.Semaphore(AT_A_TIME), monotonic() + SECONDS_TO_BEGIN
        permission = Permission(partial(self._is_same, work))
        payloads = await read_payloads(self._services, work.endpoint, work.scopes, work.deliveries)

        async def send(message: Message) -> Attempt | None:
            async with turns:
                may_begin = monotonic() < end and await permission.holds()
                return await self._services.webhooks.send(message) if may_begin else None

        messages = [
            Message(
                work.endpoint.url,
                str(each.change_id),
                payload.body,
                work.secrets,
                payload.scopes,
                each.resource_id,
            )
            for each, payload in zip(work.deliveries, payloads, strict=True)
        ]
        return await asyncio.gather(*map(send, messages))

    async def _is_same(self, work: Work) -> bool:
        """Whether the endpoint is at the same URL still, and may be told the same."""
        async with self._database.read() as connection:
            found = await first(connection, WebhookEndpointRow, _is(work.endpoint))
            if found is None or not found.is_enabled or found.url != work.endpoint.url:
                return False
            return await present_scopes(connection, found) == work.scopes


async def _lock(connection: Connection, key: EndpointKey) -> WebhookEndpointRow | None:
    return await first(connection, WebhookEndpointRow, _is(key), lock=True)


def _is(endpoint: EndpointKey | WebhookEndpointRow) -> ColumnElement[bool]:
    return (_endpoints.c.workspace_id == endpoint.workspace_id) & (_endpoints.c.id == endpoint.id)
