"""Callers that do something else beside the writers."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from time import monotonic
from typing import Any

import httpx

from tests.faults.stage import Stage
from tests.faults.writing import HANGS_AFTER


class Beside:
    """A caller that repeats an action beside the writers, and notes the statuses of its answers.

    Its workspace is that of the writers, unless it has a token of another. `longest` is its longest wait for
    an answer, in seconds.
    """

    def __init__(self, stage: Stage, token: str | None = None) -> None:
        headers = {"Authorization": f"Bearer {token or stage.site.tenant.token}"}
        self.client = httpx.AsyncClient(base_url=stage.site.address, headers=headers, timeout=HANGS_AFTER)
        self.statuses: Counter[int] = Counter()
        self.surprises: list[str] = []
        self.done = 0
        self.longest = 0.0
        self._task: asyncio.Task[None] | None = None

    def begin(self, action: Callable[["Beside"], Awaitable[bool]]) -> None:
        self._task = asyncio.create_task(self._repeat(action))

    async def _repeat(self, action: Callable[["Beside"], Awaitable[bool]]) -> None:
        while True:
            self.done += await action(self)
            await asyncio.sleep(0.05)

    async def asked(self, method: str, path: str, **options: Any) -> httpx.Response:
        begun = monotonic()
        answer = await self.client.request(method, path, **options)
        self.longest = max(self.longest, monotonic() - begun)
        self.statuses[answer.status_code] += 1
        if answer.status_code == 503 and "retry-after" not in answer.headers:
            self.surprises.append(f"{path} answered 503 without Retry-After")
        if answer.status_code >= 500 and answer.status_code != 503:
            self.surprises.append(f"{path} answered {answer.status_code}")
        return answer

    async def end(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self.client.aclose()


def told(what: str, callers: Iterable[Beside]) -> str:
    """How often they were answered with which status."""
    statuses: Counter[int] = sum((caller.statuses for caller in callers), Counter())
    counts = [f"{many} times {status}" for status, many in sorted(statuses.items())]
    return f"{what}: {', '.join(counts)}"
