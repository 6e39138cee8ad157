"""What a page says of a link that somebody was mailed and has followed."""

from __future__ import annotations

import re

from resolvers.sign_in.mailed_links import LinkState

_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")

STATUS = {
    LinkState.VALID: 200,
    LinkState.USED: 410,
    LinkState.ENDED: 410,
    LinkState.EXPIRED: 410,
    LinkState.UNKNOWN: 404,
}


def link_token(text: str) -> str:
    """The secret of a link as somebody brought it; empty where no link could have it."""
    return text if _TOKEN.fullmatch(text) else ""
