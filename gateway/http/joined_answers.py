"""The head of an answer and the first part of its body, in one write instead of two."""

import asyncio

# How uvicorn begins what it writes before the head of an answer.
_CONTINUE = b"HTTP/1.1 100 "


class JoinedAnswer:
    """What the answers of a connection are written to: its transport, but for their heads.

    Uvicorn writes the head alone, which costs a system call and wakes the client for nothing. It waits here
    for what is written next, at most until the loop's next turn.

    It knows nothing of the requests, which know it: they would stay in memory until the next collection.
    """

    __slots__ = ("_head", "_is_begun", "_transport")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._is_begun = False
        self._head = b""

    def write(self, data: bytes) -> None:
        if self._transport.is_closing():
            # Uvicorn tells only the last of pipelined requests that the client has gone.
            self._head = b""
        elif self._head:
            head, self._head = self._head, b""
            self.write_whole(head, data)
        elif self._is_begun or data.startswith(_CONTINUE):
            self._transport.write(data)
        else:
            self._is_begun, self._head = True, data
            asyncio.get_running_loop().call_soon(self.flush)

    def write_whole(self, head: bytes, body: bytes) -> None:
        """Write the head of an answer and what follows it at once."""
        if body:
            self._transport.writelines((head, body))
        else:
            # From Python 3.12, asyncio's own transport never gets rid of an empty part, and never closes.
            self._transport.write(head)

    def end(self) -> None:
        """The answer is complete: what is written next begins another."""
        self.flush()
        self._is_begun = False

    def flush(self) -> None:
        """Write the head if it still waits: the body has none, or comes later."""
        head, self._head = self._head, b""
        if head and not self._transport.is_closing():
            self._transport.write(head)

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()
