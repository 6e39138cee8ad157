"""The changelog as a feed (Atom, RFC 4287): an entry for each thing that users notice."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from xml.etree import ElementTree

from gateway.web.guide.contents import FOLDER, GUIDE_PATH, PAGES, Addresses

NAME = "changelog.atom"
ATOM = "application/atom+xml; charset=utf-8"
MOST_ENTRIES = 100
LONGEST_TITLE = 120

_NAMESPACE = "http://www.w3.org/2005/Atom"
_VERSION = re.compile(r"^## (.+)$", re.MULTILINE)
_ENTRY = re.compile(r"^- (.+(?:\n  .+)*)", re.MULTILINE)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}$")
_MARKUP = re.compile(r"\]\([^)]*\)|[\[`*]")


@dataclass(frozen=True)
class Entry:
    """Something that users notice, of a version; `moment` is its release, or when the file was written."""

    version: str
    text: str
    moment: datetime

    @property
    def title(self) -> str:
        """The first sentence, or what fits of it."""
        sentence = re.split(r"(?<=[.:;])\s", self.text, maxsplit=1)[0].rstrip(".:;")
        return sentence if len(sentence) <= LONGEST_TITLE else f"{sentence[: LONGEST_TITLE - 1]}\u2026"


def entries() -> list[Entry]:
    """The newest entries of the page, in its order."""
    return list(_entries())[:MOST_ENTRIES]


def _entries() -> Iterator[Entry]:
    page = PAGES["changelog"]
    written = datetime.fromtimestamp((FOLDER / page.file).stat().st_mtime, UTC).replace(microsecond=0)
    _, *parts = _VERSION.split(page.text)
    for version, text in zip(parts[::2], parts[1::2], strict=True):
        day = _DAY.search(version)
        moment = written if day is None else datetime.fromisoformat(day[0]).replace(tzinfo=UTC)
        for entry in _ENTRY.findall(text):
            yield Entry(version, " ".join(_MARKUP.sub("", entry).split()), moment)


def feed(addresses: Addresses) -> bytes:
    """The feed. An entry keeps its id as long as its text, so that readers show each once."""
    ElementTree.register_namespace("", _NAMESPACE)
    page, listed = f"{addresses.site}{GUIDE_PATH}/changelog", entries()
    root = ElementTree.Element(f"{{{_NAMESPACE}}}feed")
    _add(root, "title", "Duograph")
    _add(root, "id", page)
    _add(root, "updated", max(entry.moment for entry in listed).isoformat())
    _add(root, "link", rel="self", href=f"{addresses.site}{GUIDE_PATH}/{NAME}")
    _add(root, "link", rel="alternate", href=page)
    _add(_add(root, "author"), "name", "Duograph")
    for entry in listed:
        element = _add(root, "entry")
        _add(element, "title", entry.title)
        _add(element, "id", f"urn:sha256:{sha256(entry.text.encode()).hexdigest()}")
        _add(element, "updated", entry.moment.isoformat())
        _add(element, "link", rel="alternate", href=page)
        _add(element, "category", term=entry.version)
        _add(element, "content", entry.text, type="text")
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def _add(
    parent: ElementTree.Element, name: str, text: str | None = None, **attributes: str
) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, f"{{{_NAMESPACE}}}{name}", attributes)
    element.text = text
    return element
