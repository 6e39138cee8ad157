"""A caller with a token and one connection, which is kept open."""

from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib.parse import urlsplit

import orjson

from bench.kit.wrk import Request


class Refused(Exception):
    """The server answered with something else than success."""


class Client:
    """Calls one server as the caller with this token."""

    def __init__(self, address: str, token: str) -> None:
        self.token = token
        self._connection = HTTPConnection(urlsplit(address).netloc)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def get(self, path: str) -> Any:
        return self.send(Request("GET", path))

    def post(self, path: str, body: Any) -> Any:
        return self.send(Request("POST", path, orjson.dumps(body).decode()))

    def send(self, request: Request) -> Any:
        """The JSON of the answer. Raises `Refused`, also for the errors of a GraphQL document."""
        return orjson.loads(self.answer(request))

    def answer(self, request: Request) -> bytes:
        """The same, as it was sent."""
        try:
            answer = self._answer(request)
        except ConnectionError:
            # The server closes connections that were not used for some seconds.
            self._connection.close()
            answer = self._answer(request)
        content = answer.read()
        if answer.status >= 300 or content.startswith(b'{"errors"') or b'"errors":[' in content:
            raise Refused(f"{request.method} {request.path} answered {answer.status}: {content[:300]!r}")
        return content

    def close(self) -> None:
        self._connection.close()

    def _answer(self, request: Request) -> HTTPResponse:
        self._connection.request(request.method, request.path, request.body, self._headers)
        return self._connection.getresponse()
