"""Lists of entity tags in conditional headers (RFC 9110 13.1)."""

import re

_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
# A tag may have commas and asterisks in it.
_EACH = re.compile(rf"{_TAG}|\*")
# Section 5.6.1: a list may have empty elements.
_LIST = re.compile(rf"\*|[ \t,]*{_TAG}(?:[ \t]*,[ \t,]*{_TAG})*[ \t,]*")


def is_well_formed(header: str) -> bool:
    """Whether this is `*` or a list of entity tags, as section 8.8.3 writes them."""
    return _LIST.fullmatch(header) is not None


def matches_strongly(header: str, etag: str) -> bool:
    """Whether an `If-Match` header matches a resource with this tag; weak tags never match."""
    return not {"*", etag}.isdisjoint(_EACH.findall(header))


def matches_weakly(header: str, etag: str) -> bool:
    """Whether an `If-None-Match` header contains this tag, weak or strong."""
    return not {"*", etag}.isdisjoint(tag.removeprefix("W/") for tag in _EACH.findall(header))
