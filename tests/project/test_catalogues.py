"""The catalogues have every text of the translated pages and emails, with the same values in it."""

import re

import pytest

from gateway.web.words.messages import MESSAGES
from schema.languages.catalogues import catalogue_of, path_of, read_catalogue
from storage.enums import Language
from tests.project.catalogues import ROOT, TRANSLATED, renewed, texts

PLACEHOLDER = re.compile(r"%\(\w+\)s|%%|</?\w+[^>]*>")
SENTENCE = re.compile(r"[.!?:,]\s*$")
JOINED = re.compile(r'"\s*\n\s*f?"')
# What is made of names of things and of numbers, or by `words/problems.py`.
MADE = re.compile(r"There is no such|This email is already|Enter at |This should |[\w ]+$|%\(number\)s \w+$")
# Where operations and the vocabulary say what a page shows.
SPEAKING = ("resolvers", "schema", "oauth", "gateway")


def versions(language: Language) -> list[tuple[str, str]]:
    """Each message with its translation; of those with a number, each form."""
    pairs = []
    for message in read_catalogue(language):
        if message.id and isinstance(message.id, tuple | list):
            # One thing may be told without its number, where the language has a form for it.
            originals = message.id if len(message.string) > 1 else message.id[1:]
            pairs += zip(originals, message.string, strict=True)
        elif message.id:
            pairs.append((message.id, message.string))
    return pairs


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_catalogue_is_complete_and_has_nothing_else(language: Language) -> None:
    catalogue = read_catalogue(language)
    assert path_of(language).read_bytes() == renewed(language, texts()), "run `make generated`"
    assert [pair for pair in versions(language) if not pair[1].strip()] == []
    assert [message.id for message in catalogue if message.id and message.fuzzy] == []
    assert catalogue.obsolete == {}


@pytest.mark.parametrize("language", TRANSLATED)
def test_translations_keep_placeholders_tags_and_the_end_of_a_sentence(language: Language) -> None:
    for message, translated in versions(language):
        assert set(PLACEHOLDER.findall(message)) == set(PLACEHOLDER.findall(translated)), translated
        if language is not Language.JA:
            assert bool(SENTENCE.search(message)) == bool(SENTENCE.search(translated)), translated
    suffix = catalogue_of(language).gettext(" (optional)")
    assert catalogue_of(language).gettext("Name (optional)").endswith(suffix)


def test_no_style_and_no_script_looks_for_a_text() -> None:
    """In another language it would not be found: a phone's header would fall apart."""
    files = [each for each in (ROOT / "gateway/web/static").glob("*.*") if each.suffix in (".css", ".js")]
    assert [each.name for each in files if "[aria-label" in each.read_text()] == []


def test_messages_of_operations_are_still_said() -> None:
    """One that is worded anew would be shown in English."""
    sources = [path for package in SPEAKING for path in (ROOT / package).rglob("*.py")]
    said = "".join(JOINED.sub("", path.read_text()) for path in sources if path.name != "messages.py")
    for message in MESSAGES:
        if not MADE.match(message):
            assert all(part.strip() in said for part in PLACEHOLDER.split(message)), message
