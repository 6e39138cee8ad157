"""Names of receivers' hosts, looked up beside everything else.

Whoever owns a name may have its servers answer late or never. In the loop's own threads, which are few, that
would keep waiting whatever else looks up a name: the database, mail and storage.
"""

import asyncio
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress

from gateway.webhooks.addresses import Address, parse_address

# Each has a thread of its own while it lasts, which no time-out ends.
MOST_AT_A_TIME = 256

# The addresses, or why there are none.
_Found = list[Address] | Exception


class Names:
    """Looks up hosts by the system's resolver: each once at a time, whoever asks for it."""

    def __init__(self) -> None:
        self._running: dict[tuple[str, int], asyncio.Future[_Found]] = {}

    async def addresses(self, host: str, port: int) -> Sequence[Address]:
        """The addresses of a host, in any spelling: the resolver reads decimal and octal forms too.

        Raises `OSError` and `UnicodeError`.
        """
        key = host, port
        found = self._running.get(key)
        if found is None:
            if len(self._running) >= MOST_AT_A_TIME:
                raise OSError("Too many names are looked up.")
            loop = asyncio.get_running_loop()
            found = self._running[key] = loop.create_future()
            # The end of the process does not wait for it.
            threading.Thread(target=self._look, args=(loop, key), name="names", daemon=True).start()
        result = await asyncio.shield(found)
        if isinstance(result, Exception):
            raise result
        return result

    def _look(self, loop: asyncio.AbstractEventLoop, key: tuple[str, int]) -> None:
        result: _Found
        try:
            entries = socket.getaddrinfo(*key, type=socket.SOCK_STREAM)
            result = list(dict.fromkeys(parse_address(str(entry[4][0])) for entry in entries))
        except Exception as error:  # noqa: BLE001 - those who wait are told whatever it was
            result = error
        # The loop may be closed by now.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._end, key, result)

    def _end(self, key: tuple[str, int], result: _Found) -> None:
        self._running.pop(key).set_result(result)
