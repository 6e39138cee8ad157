"""An event loop whose clock a test moves on: what waits for minutes there ends in a moment."""

import asyncio


class MovedLoop(asyncio.SelectorEventLoop):
    """`advance` may be called on any thread."""

    _ahead = 0.0

    def time(self) -> float:
        return super().time() + self._ahead

    def advance(self, seconds: float) -> None:
        """Let so much time pass at once, after all that has arrived meanwhile has been read."""
        asyncio.run_coroutine_threadsafe(self._advance(seconds), self).result()

    async def _advance(self, seconds: float) -> None:
        for _ in range(3):
            await asyncio.sleep(0)
        self._ahead += seconds
