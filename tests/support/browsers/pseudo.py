"""A language that no one speaks: its texts are in brackets and longer, so that all others are found."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from gettext import NullTranslations
from html.parser import HTMLParser

import pytest

from schema.languages import speech

# In whose place it stands: dates of Japanese have no letters of English.
STANDS_FOR = "ja"
_PARTS = re.compile(r"(%\(\w+\)s|%%|<[^>]+>)")
_VOWELS = str.maketrans({"a": "áa", "e": "ée", "i": "íi", "o": "óo", "u": "úu"})
_ATTRIBUTES = frozenset({"aria-label", "alt", "placeholder", "data-words"})
# What is the same in all languages: addresses, files, names of standards, units and our own name.
_SAME = re.compile(
    r"\S+@\S+|[\w.-]+\.(?:example|com|pdf)\S*|\bhttps?://\S+|/tmp/\S+|\b(?:Duograph|GraphQL|REST|UTC|[KMG]B|bytes?)\b"
)
_WORD = re.compile(r"[A-Za-z]{2,}")


def pseudo(message: str) -> str:
    """The message about 40 % longer, in brackets; placeholders and tags stay."""
    parts = _PARTS.split(message)
    return "⟦" + "".join(p if _PARTS.fullmatch(p) else p.translate(_VOWELS) for p in parts) + "⟧"


class Pseudo(NullTranslations):
    def gettext(self, message: str) -> str:
        return pseudo(message)

    def ngettext(self, one: str, many: str, number: int) -> str:
        return pseudo(one if number == 1 else many)


def _catalogue_of(language: str) -> NullTranslations:
    return NullTranslations() if language == "en" else Pseudo()


@contextmanager
def spoken() -> Iterator[None]:
    """Every page in another language than English speaks this one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(speech, "catalogue_of", _catalogue_of)
        yield


class _Texts(HTMLParser):
    """The texts of a page, which a reader or a screen reader reads, in its language."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.labels: list[str] = []
        self._hidden = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in ("script", "style") or (given.get("lang") and tag != "html"):
            self._hidden = self._hidden or tag
        for name in _ATTRIBUTES & given.keys():
            value = given[name]
            self.labels += [value] if name != "data-words" else _leaves(json.loads(value))

    def handle_endtag(self, tag: str) -> None:
        if tag == self._hidden:
            self._hidden = ""

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.texts.append(data)


def _leaves(value: object) -> list[str]:
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in _leaves(each)]
    return [leaf for each in value for leaf in _leaves(each)] if isinstance(value, list) else [str(value)]


def untranslated(html: str, *data: str) -> list[str]:
    """The words of English outside of the brackets; `data` are texts that people entered."""
    read = _Texts(html)
    outside = [_outside("".join(read.texts)), *map(_outside, read.labels)]
    words: list[str] = []
    entered = re.compile("|".join(map(re.escape, data)) or r"(?!)")
    for text in outside:
        words += _WORD.findall(_SAME.sub("", entered.sub("", text)))
    return words


def _outside(text: str) -> str:
    """The text without what is in brackets, which may contain others."""
    depth, kept = 0, []
    for character in text:
        depth += (character == "⟦") - (character == "⟧")
        if depth == 0 and character != "⟧":
            kept.append(character)
    return "".join(kept)
