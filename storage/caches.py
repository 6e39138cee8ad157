"""Caches that are bounded in bytes."""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass
class Cache(Generic[Key, Value]):
    """Values by key; beyond `largest` bytes the least recently used are evicted."""

    largest: int
    size: int = 0
    entries: OrderedDict[Key, tuple[Value, int]] = field(default_factory=OrderedDict)

    def get(self, key: Key) -> Value | None:
        entry = self.entries.get(key)
        if entry is None:
            return None
        self.entries.move_to_end(key)
        return entry[0]

    def clear(self) -> None:
        self.entries.clear()
        self.size = 0

    def keep(self, key: Key, value: Value, size: int) -> None:
        """Cache a value of `size` bytes, its key included, unless the key is cached already."""
        if key in self.entries:
            return
        self.entries[key] = value, size
        self.size += size
        while self.size > self.largest:
            _, (_, evicted_size) = self.entries.popitem(last=False)
            self.size -= evicted_size
