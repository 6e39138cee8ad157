"""One attempt to deliver a webhook, in the form of Standard Webhooks."""

import asyncio
from collections.abc import Iterable, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from time import perf_counter

from standardwebhooks import Webhook

from gateway.webhooks.answers import LARGEST_ANSWER, Answer, Failed
from gateway.webhooks.connections import Connections, place_of
from schema.webhooks.services import Attempt, Message
from storage.clock import now

USER_AGENT, RESOURCE_ID = "Duograph-Webhooks", "duograph-resource-id"
SECONDS = 10
LONGEST_RETRY_AFTER = 3600
# Of the answer's headers, the first are kept that have no more characters together.
LONGEST_HEADERS = 4 * 1024


async def send(connections: Connections, message: Message) -> Attempt:
    """Send a message once. It never raises for what a receiver does."""
    at, began = now(), perf_counter()
    headers = _headers(message, at)
    answer: Answer | None = None
    code: str | None = None
    try:
        async with asyncio.timeout(SECONDS):
            answer = await connections.ask(message.url, _written(message, headers))
    except Failed as failure:
        code = failure.code
    except TimeoutError:
        code = "timeout"
    status, answered, content = answer or (None, (), b"")
    if status is not None and 300 <= status < 400:
        code = "redirect"
    received = dict(_kept(answered))
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


def _written(message: Message, headers: Mapping[str, str]) -> bytes:
    lines = [f"POST {place_of(message.url).target} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + message.body


def _headers(message: Message, at: datetime) -> dict[str, str]:
    """The headers; one signature for each secret. Of what is gone, the body would not say which it was."""
    body = message.body.decode()
    about = {} if message.resource_id is None else {RESOURCE_ID: str(message.resource_id)}
    signatures = [Webhook(secret).sign(message.id, at, body) for secret in message.secrets]
    return {
        "host": place_of(message.url).netloc,
        "content-type": "application/json",
        "content-length": str(len(message.body)),
        "user-agent": USER_AGENT,
        "webhook-id": message.id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
        **about,
    }


def _kept(headers: Iterable[tuple[bytes, bytes]]) -> Iterable[tuple[str, str]]:
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
    except (TypeError, ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), float(LONGEST_RETRY_AFTER))
