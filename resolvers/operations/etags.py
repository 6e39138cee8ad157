"""Lists of entity tags in conditional headers (RFC 9110 13.1)."""


def matches_strongly(header: str, etag: str) -> bool:
    """Whether an `If-Match` header matches a resource with this tag; weak tags never match."""
    return not {"*", etag}.isdisjoint(_tags(header))


def matches_weakly(header: str, etag: str) -> bool:
    """Whether an `If-None-Match` header contains this tag, weak or strong."""
    return not {"*", etag}.isdisjoint(tag.removeprefix("W/") for tag in _tags(header))


def _tags(header: str) -> list[str]:
    return [tag for entry in header.split(",") if (tag := entry.strip())]
