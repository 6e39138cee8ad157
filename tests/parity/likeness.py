"""Whether two answers are the same, but for what has to differ from workspace to workspace."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

# What the gateway makes up: ids, credentials and their hints, ids of uploads; and the slugs of the tests.
_MADE_UP = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|dg_[a-z]+_[0-9A-Za-z.…*]+|whsec_[0-9A-Za-z+/]+=*|w-[0-9a-f]{32}"
    r"|(?<![\w-])[\w-]{32}(?![\w-])"
)
# Of a request to an endpoint: how long it took, and what says or signs when it was made.
_OF_THE_TIME = frozenset({"duration", "request_body", "webhook-timestamp", "webhook-signature"})
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
# Two calls of one case are made within this time.
_SOON = timedelta(minutes=5)
_SIGNED = {"url", "expires_at"}


@dataclass
class Likeness:
    """Which made-up texts of one home stand for which of another; they correspond one to one, forever."""

    there: dict[str, str] = field(default_factory=dict)
    back: dict[str, str] = field(default_factory=dict)

    def turned(self) -> "Likeness":
        """The same, from the other home to this one."""
        return Likeness(self.back, self.there)

    def differences(self, left: Any, right: Any, place: str = "answer") -> Iterator[str]:
        """Each place where the values differ."""
        if place.rpartition(".")[2] in _OF_THE_TIME:
            return
        if isinstance(left, dict) and isinstance(right, dict):
            for key in [*left, *(key for key in right if key not in left)]:
                if key not in left or key not in right:
                    yield f"{place}.{key}: only one has it"
                else:
                    yield from self.differences(left[key], right[key], f"{place}.{key}")
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                yield f"{place}: {len(left)} and {len(right)} items"
            for number, (one, other) in enumerate(zip(left, right, strict=False)):
                yield from self.differences(one, other, f"{place}[{number}]")
        elif type(left) is not type(right) or not self._is_same(left, right, place):
            yield f"{place}: {left!r} is not {right!r}"

    def _is_same(self, left: Any, right: Any, place: str) -> bool:
        if left == right:
            return not isinstance(left, str) or self._corresponds(left, right)
        if not isinstance(left, str):
            return False
        if _MOMENT.fullmatch(left) and _MOMENT.fullmatch(right):
            return abs(datetime.fromisoformat(left) - datetime.fromisoformat(right)) < _SOON
        if place.rpartition(".")[2] in _SIGNED:
            left, right = urlsplit(left).path, urlsplit(right).path
        return self._corresponds(left, right)

    def _corresponds(self, left: str, right: str) -> bool:
        """Whether the texts are the same outside what is made up, which stands for the same as ever."""
        if _MADE_UP.sub("", left) != _MADE_UP.sub("", right):
            return False
        pairs = zip(_MADE_UP.findall(left), _MADE_UP.findall(right), strict=False)
        return all(
            self.there.setdefault(one, other) == other and self.back.setdefault(other, one) == one
            for one, other in pairs
        )


def unequal(left: Any, right: Any, place: str = "answer") -> Iterator[str]:
    """Each place where two answers about the same home differ; signed addresses may differ in signatures."""
    if isinstance(left, dict) and isinstance(right, dict):
        if left.keys() != right.keys():
            yield f"{place}: only one has {sorted(left.keys() ^ right.keys())}"
        for key in left.keys() & right.keys():
            yield from unequal(left[key], right[key], f"{place}.{key}")
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for number, (one, other) in enumerate(zip(left, right, strict=True)):
            yield from unequal(one, other, f"{place}[{number}]")
    elif not _is_equal(left, right, place.rpartition(".")[2]):
        yield f"{place}: {left!r} is not {right!r}"


def _is_equal(left: Any, right: Any, name: str) -> bool:
    # 1 is not 1.0 and not true.
    if type(left) is type(right) and left == right:
        return True
    if not isinstance(left, str) or not isinstance(right, str):
        return False
    if name == "url":
        return urlsplit(left)[:3] == urlsplit(right)[:3]
    if name in {"expires_at", "last_used_at"}:
        return abs(datetime.fromisoformat(left) - datetime.fromisoformat(right)) < _SOON
    return False
