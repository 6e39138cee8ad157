"""The language of words, and the locale of dates, numbers and amounts, of the page or email being written."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from babel import Locale
from babel.numbers import format_decimal

from schema.languages.catalogues import catalogue_of
from storage.enums import Language


@dataclass(frozen=True)
class Speech:
    """The language of the words, and a locale that Babel knows for the rest: `de` and `de_AT`.

    A member's page has English words and the locale of its reader.
    """

    language: Language = Language.EN
    locale: str = "en_US"

    @cached_property
    def is_english(self) -> bool:
        """Whether dates are those of English, which we write with the day first."""
        return self.locale.partition("_")[0] == Language.EN

    @property
    def readers_language(self) -> Language:
        """The language of the reader, English if we have no words of it."""
        language = self.locale.partition("_")[0]
        return Language(language) if language in set(Language) else Language.EN


ENGLISH = Speech()
# None where nobody reads a page: in calls of the API and in the background.
_speech: ContextVar[Speech | None] = ContextVar("speech", default=None)


@contextmanager
def speaking(speech: Speech) -> Iterator[None]:
    """Write texts in this language, in its `with` block."""
    token = _speech.set(speech)
    try:
        yield
    finally:
        _speech.reset(token)


def go_on_in(speech: Speech) -> None:
    """Write what follows in this language, to the end of the block that is spoken."""
    _speech.set(speech)


def current_speech() -> Speech:
    """That of the page or email being written; English elsewhere."""
    return _speech.get() or ENGLISH


def language_of_page() -> Language | None:
    """The language of the page that the caller is on; None for programs."""
    speech = _speech.get()
    return None if speech is None else speech.readers_language


def speech_in(language: Language | str | None) -> Speech:
    """The speech of a language, for an email: with the locale of the page if that is of the same language."""
    if language is None or language == Language.EN:
        return ENGLISH
    locale = current_speech().locale
    same = locale.partition("_")[0] == language
    return Speech(Language(language), locale if same else str(language))


def gettext(message: str, /, **values: Any) -> str:
    """The message in the current language, with its `%(name)s` filled in."""
    return translated(message) % values


def ngettext(one: str, many: str, number: int, /, **values: Any) -> str:
    """The message for this number of things, which is `%(num)s` in it."""
    shown = format_decimal(number, locale=babel_locale())
    return translated_number(one, many, number) % {"num": shown, **values}


def translated(message: str) -> str:
    """The message in the current language, as templates fill it in."""
    return catalogue_of(current_speech().language).gettext(message) if message else ""


def translated_number(one: str, many: str, number: int) -> str:
    """The message for this number of things in the current language, as templates fill it in."""
    return catalogue_of(current_speech().language).ngettext(one, many, number)


def noted(message: str) -> str:
    """The message itself, for the catalogues: it is translated where it is shown."""
    return message


def babel_locale() -> Locale:
    """The current locale."""
    return _parsed(current_speech().locale)


@cache
def _parsed(locale: str) -> Locale:
    return Locale.parse(locale)
