"""What a client sends and what is secret in the answers, written down while it goes by."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import httpx

SHORTEST = 6
ROOT = Path(__file__).parents[3]
_TOKEN = re.compile(r"dg_[a-z]+_\w+")
_LITERAL = re.compile(r'"([^"]*)"')
_WORD = re.compile(r"[\w:.-]+")
# Headers that say what any client of HTTP says.
_USUAL_HEADERS = {
    "host",
    "accept",
    "accept-encoding",
    "connection",
    "user-agent",
    "content-type",
    "content-length",
}


class Recorder(httpx.AsyncHTTPTransport):
    """Sends requests by the network and keeps all that should be in no log: see `secrets`."""

    def __init__(self, routes: Iterable[str]) -> None:
        """`routes` are the templates of paths; their own words are no secrets."""
        super().__init__()
        self._texts: set[str] = set()
        self._vocabulary = _words(_read("schema/schema.graphql")) | _words(_read("rest_compat/openapi.json"))
        self._vocabulary |= {text for route in routes for text in (route, *route.split("/"))}

    def add(self, text: str) -> str:
        """Look for this one too."""
        self._texts.add(text)
        return text

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        self._texts.update(_sent(request))
        response = await super().handle_async_request(request)
        answer = (await response.aread()).decode(errors="ignore")
        self._texts.update(_TOKEN.findall(answer))
        for cookie in response.headers.get_list("set-cookie"):
            self._texts.add(cookie.partition(";")[0].partition("=")[2])
        return response

    @property
    def secrets(self) -> set[str]:
        """Every text sent or shown once, but short ones and the words of our own vocabulary."""
        return {text for text in self._texts if len(text) >= SHORTEST and text not in self._vocabulary}


def _read(name: str) -> str:
    return (ROOT / name).read_text()


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text))


def _sent(request: httpx.Request) -> Iterator[str]:
    path, _, query = request.url.raw_path.decode().partition("?")
    yield from (unquote(segment) for segment in path.split("/"))
    yield from (value for _, value in parse_qsl(query))
    for name, value in request.headers.items():
        if name not in _USUAL_HEADERS:
            yield from (value, value.rpartition(" ")[2], value.partition("=")[2])
    body = request.content.decode(errors="ignore")
    yield body
    yield from _LITERAL.findall(body)
    yield from (value for _, value in parse_qsl(body))
    try:
        yield from _leaves(json.loads(body))
    except ValueError:
        return


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, str):
        yield value
        yield from _LITERAL.findall(value)
