"""Statuses and tokens of emailed links."""

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
    """The link's token; empty if it is malformed."""
    return text if _TOKEN.fullmatch(text) else ""
