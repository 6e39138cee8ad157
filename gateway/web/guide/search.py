"""Search over the sections of all pages; static/guide.js does the same with the same index."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup, escape

from gateway.web.guide.contents import PAGES, Page, anchor

LONGEST_QUESTION = 100
MOST_TERMS = 8
MOST_RESULTS = 20
LONGEST_EXCERPT = 160
# What a term counts where it is found.
WEIGHTS = {"title": 8, "heading": 4, "text": 1}

_SECTION = re.compile(r"^#{2,4} (.+)$", re.MULTILINE)
_ROW = re.compile(r"^\|(.+)\|$", re.MULTILINE)
_TARGET = re.compile(r"\]\([^)]*\)")
_MARKUP = re.compile(r"^```\w*$|[`*|#\[\]]+|-{3,}", re.MULTILINE)


@dataclass(frozen=True)
class Section:
    """A part of a page below one heading; the first part of a page has no heading."""

    title: str
    heading: str
    address: str
    text: str


@dataclass(frozen=True)
class Result:
    """A section that has every term, with an excerpt around the first, in which all are marked."""

    section: Section
    excerpt: Markup


@cache
def sections() -> tuple[Section, ...]:
    """The sections of all pages in their order."""
    return tuple(section for page in PAGES.values() if page.is_searched for section in _sections_of(page))


def _sections_of(page: Page) -> Iterator[Section]:
    _, _, below_title = page.read_text.partition("\n")
    before, *parts = _SECTION.split(below_title)
    yield Section(page.title, "", page.path, _plain(before))
    for heading, text in zip(parts[::2], parts[1::2], strict=True):
        yield Section(page.title, _plain(heading), f"{page.path}#{anchor(heading)}", _plain(text))


def _plain(markdown: str) -> str:
    return " ".join(_MARKUP.sub(" ", _TARGET.sub("", _ROW.sub(_cells, markdown))).split())


def _cells(row: re.Match[str]) -> str:
    """A row of a table in one line; nothing for the line below its head."""
    return " · ".join(cell.strip() for cell in row[1].split("|")) + ";" if row[1].strip("-:| ") else ""


def search(question: str) -> list[Result]:
    """The sections with all words of the question, the best first; reads 8 words."""
    terms = question.lower().split()[:MOST_TERMS]
    if not terms:
        return []
    weighed = [(_weight(section, terms), section) for section in sections()]
    best = sorted((pair for pair in weighed if pair[0]), key=lambda pair: -pair[0])[:MOST_RESULTS]
    return [Result(section, _marked(_excerpt(section.text, terms[0]), terms)) for _, section in best]


def _marked(text: str, terms: list[str]) -> Markup:
    # Of two terms, one may begin with the other.
    longest_first = sorted(map(re.escape, terms), key=len, reverse=True)
    parts = re.split(f"({'|'.join(longest_first)})", text, flags=re.IGNORECASE)
    marked = [
        Markup("<mark>{}</mark>").format(part) if place % 2 else escape(part)
        for place, part in enumerate(parts)
    ]
    return Markup("").join(marked)


def _weight(section: Section, terms: list[str]) -> int:
    total = 0
    for term in terms:
        weight = sum(value for name, value in WEIGHTS.items() if term in getattr(section, name).lower())
        if not weight:
            return 0
        total += weight
    return total


def _excerpt(text: str, term: str) -> str:
    """Whole words around the first place of the term."""
    begin = text.rfind(" ", 0, max(0, text.lower().find(term) - LONGEST_EXCERPT // 4)) + 1
    end = begin + LONGEST_EXCERPT
    if end < len(text) and " " in text[begin:end]:
        end = text.rfind(" ", begin, end)
    return f"{'… ' if begin else ''}{text[begin:end]}{' …' if end < len(text) else ''}"
