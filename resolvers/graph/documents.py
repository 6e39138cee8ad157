"""Caches of documents and introspection answers, each bounded in bytes."""

from dataclasses import dataclass, field

import orjson
from graphql import DocumentNode

from resolvers.operations.caches import Cache

LONGEST_CACHED = 8 * 1024
BYTES_OF_DOCUMENTS = 16 * 1024 * 1024
BYTES_OF_ANSWERS = 4 * 1024 * 1024
# Measured with tracemalloc: 340 to 560 bytes for each token, with its nodes.
BYTES_PER_TOKEN = 600


@dataclass(frozen=True)
class Documents:
    """Valid documents by their text, and the answers to those that select only the schema."""

    parsed: Cache[str, DocumentNode] = field(default_factory=lambda: Cache(BYTES_OF_DOCUMENTS))
    answers: Cache[str, orjson.Fragment] = field(default_factory=lambda: Cache(BYTES_OF_ANSWERS))

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
