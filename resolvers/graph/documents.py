"""The documents and introspection answers that a process keeps: a bounded number of bytes of each."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import orjson
from graphql import DocumentNode

Kept = TypeVar("Kept")

LONGEST_KEPT = 8 * 1024
BYTES_OF_DOCUMENTS = 16 * 1024 * 1024
BYTES_OF_ANSWERS = 4 * 1024 * 1024
# Measured with tracemalloc: 340 to 560 bytes for each token, with its nodes.
BYTES_PER_TOKEN = 600


@dataclass
class Cache(Generic[Kept]):
    """Values by text, of which the least recently used are dropped beyond `largest` bytes."""

    largest: int
    size: int = 0
    entries: OrderedDict[str, tuple[Kept, int]] = field(default_factory=OrderedDict)

    def get(self, text: str) -> Kept | None:
        entry = self.entries.get(text)
        if entry is None:
            return None
        self.entries.move_to_end(text)
        return entry[0]

    def keep(self, text: str, value: Kept, size: int) -> None:
        """Keep a value of `size` bytes, its text included; the text is not there yet."""
        if text in self.entries:
            return
        self.entries[text] = value, size
        self.size += size
        while self.size > self.largest:
            _, (_, dropped) = self.entries.popitem(last=False)
            self.size -= dropped


@dataclass(frozen=True)
class Documents:
    """Valid documents by their text, and the answers of those that only ask for the schema."""

    parsed: Cache[DocumentNode] = field(default_factory=lambda: Cache(BYTES_OF_DOCUMENTS))
    answers: Cache[orjson.Fragment] = field(default_factory=lambda: Cache(BYTES_OF_ANSWERS))

    def keep(self, text: str, document: DocumentNode) -> None:
        """Keep a valid document, if it is short."""
        if _is_short(text):
            self.parsed.keep(text, document, 4 * len(text) + _tokens(document) * BYTES_PER_TOKEN)

    def keep_answer(self, key: str, data: object) -> None:
        """Keep what a document was answered, if its key, which holds it, is short."""
        if _is_short(key):
            written = orjson.dumps(data)
            self.answers.keep(key, orjson.Fragment(written), 4 * len(key) + len(written))


def _is_short(text: str) -> bool:
    return len(text.encode()) <= LONGEST_KEPT


def _tokens(document: DocumentNode) -> int:
    count, token = 0, document.loc.start_token if document.loc else None
    while token is not None:
        count, token = count + 1, token.next
    return count
