"""Caches that are bounded in bytes, and hashes that are worked out once."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import wraps
from typing import Generic, ParamSpec, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Owner = TypeVar("Owner", bound=Hashable)
Arguments = ParamSpec("Arguments")
_HASH = "_hash"


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
            self.evict()

    def evict(self) -> None:
        """Forget the least recently used value."""
        _, (_, evicted_size) = self.entries.popitem(last=False)
        self.size -= evicted_size


def cached(
    largest: int, size_of: Callable[..., int]
) -> Callable[[Callable[Arguments, Value]], Callable[Arguments, Value]]:
    """Decorate a function of hashable, positional arguments so that it remembers `largest` bytes of results.

    `size_of` is given a result and its arguments, and says how many bytes both take.
    """

    def decorate(function: Callable[Arguments, Value]) -> Callable[Arguments, Value]:
        results: Cache[Hashable, tuple[Value]] = Cache(largest)

        @wraps(function)
        def answer(*arguments: Arguments.args, **_: Arguments.kwargs) -> Value:
            result = results.get(arguments)
            if result is None:
                # In a tuple, because a result may be None.
                result = (function(*arguments),)  # type: ignore[call-arg]
                results.keep(arguments, result, size_of(result[0], *arguments))
            return result[0]

        # By the name that `functools` has for it.
        answer.cache_clear = results.clear  # type: ignore[attr-defined]
        return answer

    return decorate


@dataclass
class SharedCache(Generic[Owner, Key, Value]):
    """Values by owner and key. Beyond its `share` in bytes, an owner evicts only its own values.

    Beyond `largest` bytes, those of the least recent owner are evicted.
    """

    largest: int
    share: int
    size: int = 0
    parts: OrderedDict[Owner, Cache[Key, Value]] = field(default_factory=OrderedDict)

    def get(self, owner: Owner, key: Key) -> Value | None:
        part = self.parts.get(owner)
        if part is None:
            return None
        self.parts.move_to_end(owner)
        return part.get(key)

    def keep(self, owner: Owner, key: Key, value: Value, size: int) -> None:
        """Cache a value of `size` bytes, its keys included, unless the owner has it already."""
        part = self.parts.setdefault(owner, Cache(self.share))
        self.parts.move_to_end(owner)
        before = part.size
        part.keep(key, value, size)
        self.size += part.size - before
        self._drop_if_empty(owner)
        while self.size > self.largest:
            self._evict()

    def _evict(self) -> None:
        owner, part = next(iter(self.parts.items()))
        before = part.size
        part.evict()
        self.size -= before - part.size
        self._drop_if_empty(owner)

    def _drop_if_empty(self, owner: Owner) -> None:
        if not self.parts[owner].entries:
            del self.parts[owner]


def hashed_once(frozen: type[Value]) -> type[Value]:
    """Keep the hash of each instance: each request needs it, and working it out takes many calls."""
    worked_out = frozen.__hash__

    def hash_of(self: Value) -> int:
        kept = self.__dict__
        if _HASH not in kept:
            kept[_HASH] = worked_out(self)
        known: int = kept[_HASH]
        return known

    frozen.__hash__ = hash_of  # type: ignore[method-assign, assignment]
    return frozen
