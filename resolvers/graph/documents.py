"""Caches of documents and introspection answers, each bounded in bytes."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import orjson
from graphql import DocumentNode

Value = TypeVar("Value")

LONGEST_CACHED = 8 * 1024
BYTES_OF_DOCUMENTS = 16 * 1024 * 1024
BYTES_OF_ANSWERS = 4 * 1024 * 1024
# Measured with tracemalloc: 340 to 560 bytes for each token, with its nodes.
BYTES_PER_TOKEN = 600


@dataclass
class Cache(Generic[Value]):
    """Values by text; beyond `largest` bytes the least recently used are evicted."""

    largest: int
    size: int = 0
    entries: OrderedDict[str, tuple[Value, int]] = field(default_factory=OrderedDict)

    def get(self, text: str) -> Value | None:
        entry = self.entries.get(text)
        if entry is None:
            return None
        self.entries.move_to_end(text)
        return entry[0]

    def keep(self, text: str, value: Value, size: int) -> None:
        """Cache a value of `size` bytes, its text included, unless the text is cached already."""
        if text in self.entries:
            return
        self.entries[text] = value, size
        self.size += size
        while self.size > self.largest:
            _, (_, evicted_size) = self.entries.popitem(last=False)
            self.size -= evicted_size


@dataclass(frozen=True)
class Documents:
    """Valid documents by their text, and the answers to those that select only the schema."""

    parsed: Cache[DocumentNode] = field(default_factory=lambda: Cache(BYTES_OF_DOCUMENTS))
    answers: Cache[orjson.Fragment] = field(default_factory=lambda: Cache(BYTES_OF_ANSWERS))

    def keep(self, text: str, document: DocumentNode) -> None:
        """Cache a valid document if it is short."""
        if _is_short(text):
            self.parsed.keep(text, document, 4 * len(text) + document.token_count * BYTES_PER_TOKEN)

    def keep_answer(self, key: str, data: object) -> None:
        """Cache the answer to a document if its key, which contains the document, is short."""
        if _is_short(key):
            written = orjson.dumps(data)
            self.answers.keep(key, orjson.Fragment(written), 4 * len(key) + len(written))


def _is_short(text: str) -> bool:
    return len(text.encode()) <= LONGEST_CACHED
