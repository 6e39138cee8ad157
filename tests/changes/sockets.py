"""Clients of GraphQL's subscriptions, over WebSockets."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.changes.streams import Live
from tests.support.measures.patience import PATIENCE_SECONDS

SUBPROTOCOL = "graphql-transport-ws"
CHANGES = """
subscription($after: String, $kinds: [ChangeKind!], $workspaceId: ID) {
  changes(after: $after, kinds: $kinds, workspaceId: $workspaceId) {
    change { position kind resourceId node { __typename ... on Share { name workspace { id } } } }
  }
}
"""


class Socket:
    """One connection, message by message."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    def send(self, type: str, **message: Any) -> None:
        self.connection.send(json.dumps({"type": type, **message}))

    def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.connection.recv(timeout=PATIENCE_SECONDS))
        return message

    def receive_soon(self) -> dict[str, Any] | None:
        """The next message if it is there, or comes at once."""
        try:
            message: dict[str, Any] = json.loads(self.connection.recv(timeout=0.1))
        except TimeoutError:
            return None
        return message

    def greet(self, token: str | None = None) -> None:
        payload = {} if token is None else {"payload": {"Authorization": f"Bearer {token}"}}
        self.send("connection_init", **payload)
        assert self.receive() == {"type": "connection_ack"}

    def subscribe(self, id: str, query: str = CHANGES, **variables: Any) -> None:
        self.send("subscribe", id=id, payload={"query": query, "variables": variables})

    def event(self, id: str) -> Any:
        """The data of the next message, which is a result."""
        message = self.receive()
        assert (message["type"], message["id"]) == ("next", id), message
        return message["payload"]["data"]

    def change(self, id: str) -> dict[str, Any]:
        change: dict[str, Any] = self.event(id)["changes"]["change"]
        return change

    def refusal(self) -> str:
        """The code of the error with which a document ends."""
        message = self.receive()
        assert message["type"] == "error", message
        return str(message["payload"][0]["extensions"]["code"])

    def _read_all(self) -> None:
        while True:
            self.receive()

    def end(self) -> tuple[int, str]:
        """The code and the reason with which the gateway closes, whatever it still says before."""
        with pytest.raises(ConnectionClosed) as closed:
            self._read_all()
        end = closed.value.rcvd
        assert end is not None
        return end.code, end.reason


@contextmanager
def socket_to(
    live: Live, *, protocol: str = SUBPROTOCOL, query: str = "", **options: Any
) -> Iterator[Socket]:
    address = live.address.replace("http", "ws", 1)
    # By default a client waits ten seconds for its connection, and twenty for a pong.
    options = {"open_timeout": PATIENCE_SECONDS, "ping_timeout": PATIENCE_SECONDS} | options
    with connect(f"{address}/graphql{query}", subprotocols=[protocol], **options) as connection:  # type: ignore[list-item]
        yield Socket(connection)


@contextmanager
def greeted(live: Live, token: str | None = None) -> Iterator[Socket]:
    """A connection that the gateway has acknowledged."""
    with socket_to(live) as socket:
        socket.greet(token or live.tenant.token)
        yield socket
