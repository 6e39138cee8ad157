"""What resolvers use of a gateway that sends webhooks: its connections, its worker, and its GraphQL."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from oauth.scopes import Scope


@dataclass(frozen=True)
class Message:
    """What is sent, and where; `id` is that of the change, and `body` JSON.

    `scopes` are those that read what is in the body.
    """

    url: str
    id: str
    body: bytes = field(repr=False)
    secrets: Sequence[bytes] = field(repr=False)
    scopes: Sequence[str] = ()


@dataclass(frozen=True)
class Attempt:
    """What became of an attempt: the answer's `status`, or the `code` of what prevented one.

    `retry_after` are the seconds that the receiver asked to wait, at most an hour.
    """

    at: datetime
    milliseconds: int
    status: int | None = None
    code: str | None = None
    request_headers: dict[str, str] = field(default_factory=dict, repr=False)
    request_body: str = field(default="", repr=False)
    response_headers: dict[str, str] = field(default_factory=dict, repr=False)
    response_body: str = field(default="", repr=False)
    retry_after: float | None = None
    scopes: Sequence[str] = ()

    @property
    def is_success(self) -> bool:
        return self.code is None and self.status is not None and 200 <= self.status < 300

    @property
    def hangs(self) -> bool:
        """Whether the receiver had not answered at the end of its time."""
        return self.code == "timeout"

    @property
    def is_gone(self) -> bool:
        """Whether the receiver wants no more."""
        return self.status == 410


# Sends a message once. It never raises for what a receiver does.
Send = Callable[[Message], Awaitable[Attempt]]


async def only_gateways_send(message: Message) -> Attempt:
    """Raises `RuntimeError`: a command has no connections to receivers."""
    raise RuntimeError("Only a gateway sends webhooks.")


class PayloadDocuments(Protocol):
    """The GraphQL documents that choose what endpoints are told."""

    def check(self, text: str, scopes: frozenset[Scope]) -> None:
        """Raises `Invalid` unless an endpoint with these scopes may run the document."""

    async def run(self, ctx: Any, text: str, resource_id: UUID) -> Mapping[str, Any]:
        """The `data` of the document for a resource, with its `errors` if there are any."""


@dataclass(frozen=True)
class WebhookServices:
    """`wake` has the worker look for what was committed in these workspaces, or for what may concern any.

    Without a running gateway it does nothing.
    """

    send: Send = only_gateways_send
    documents: PayloadDocuments | None = None
    wake: Callable[[Collection[UUID] | None], None] = lambda workspace_ids: None


NO_WEBHOOKS = WebhookServices()
