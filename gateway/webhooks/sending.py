"""One attempt to deliver a webhook, in the form of Standard Webhooks."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from time import perf_counter

import httpcore
from standardwebhooks import Webhook

from gateway.webhooks.connections import Failed
from schema.webhooks.services import Attempt, Message
from storage.clock import now

USER_AGENT = "Duograph-Webhooks"
SECONDS = 10
LARGEST_ANSWER = 4 * 1024
LONGEST_RETRY_AFTER = 3600
# Of the answer's headers, the first are kept that have no more characters together.
LONGEST_HEADERS = 4 * 1024


class Sender:
    """Sends messages over kept connections of `make_pool`."""

    def __init__(self, make_pool: Callable[[], httpcore.AsyncConnectionPool]) -> None:
        self._make_pool = make_pool

    @cached_property
    def _pool(self) -> httpcore.AsyncConnectionPool:
        # The authorities of TLS take time to read, and most processes of tests and commands send nothing.
        return self._make_pool()

    async def send(self, message: Message) -> Attempt:
        """Send a message once. It never raises for what a receiver does."""
        return await send(self._pool, message)

    async def close(self) -> None:
        """Close the connections."""
        if "_pool" in self.__dict__:
            await self._pool.aclose()


async def send(pool: httpcore.AsyncConnectionPool, message: Message) -> Attempt:
    """Send a message once. It never raises for what a receiver does."""
    at, began = now(), perf_counter()
    headers = _headers(message, at)
    status: int | None = None
    code: str | None = None
    answered: list[tuple[bytes, bytes]] = []
    content = b""
    try:
        async with asyncio.timeout(SECONDS):
            status, answered, content = await _ask(pool, message, headers)
    except Failed as failure:
        code = failure.code
    except TimeoutError:
        code = "timeout"
    except (httpcore.TimeoutException, httpcore.PoolTimeout):
        code = "timeout"
    except (httpcore.NetworkError, httpcore.ProtocolError, OSError):
        code = "refused"
    if status is not None and 300 <= status < 400:
        code = "redirect"
    received = dict(_written(answered))
    return Attempt(
        at=at,
        milliseconds=round((perf_counter() - began) * 1000),
        status=status,
        code=code,
        request_headers=headers,
        request_body=message.body[:LARGEST_ANSWER].decode(errors="replace"),
        response_headers=received,
        response_body=content.decode(errors="replace").replace("\x00", "�"),
        retry_after=_retry_after(received.get("retry-after"), at),
        scopes=message.scopes,
    )


async def _ask(
    pool: httpcore.AsyncConnectionPool, message: Message, headers: dict[str, str]
) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    content = bytearray()
    async with pool.stream(
        "POST", message.url, headers=list(headers.items()), content=message.body
    ) as response:
        async for part in response.aiter_stream():
            content += part
            if len(content) >= LARGEST_ANSWER:
                break
        return response.status, response.headers, bytes(content[:LARGEST_ANSWER])


def _headers(message: Message, at: datetime) -> dict[str, str]:
    """The headers; one signature for each secret."""
    body = message.body.decode()
    signatures = [Webhook(secret).sign(message.id, at, body) for secret in message.secrets]
    return {
        "host": httpcore.URL(message.url).host.decode() + _port_of(message.url),
        "content-type": "application/json",
        "content-length": str(len(message.body)),
        "user-agent": USER_AGENT,
        "webhook-id": message.id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


def _port_of(url: str) -> str:
    port = httpcore.URL(url).port
    return "" if port is None else f":{port}"


def _written(headers: Iterable[tuple[bytes, bytes]]) -> Iterable[tuple[str, str]]:
    left = LONGEST_HEADERS
    for raw_name, raw_value in headers:
        name = raw_name.decode("latin-1").lower()
        value = raw_value.decode("latin-1").replace("\x00", "")
        left -= len(name) + len(value)
        if left < 0:
            return
        yield name, value


def _retry_after(text: str | None, at: datetime) -> float | None:
    """Seconds, from a number or a date; none if it is neither."""
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return float(min(int(text), LONGEST_RETRY_AFTER))
    try:
        seconds = (parsedate_to_datetime(text) - at).total_seconds()
    except (TypeError, ValueError):
        return None
    return min(max(seconds, 0.0), float(LONGEST_RETRY_AFTER))
