"""Statuses and tokens of emailed links."""

import re

from resolvers.sign_in.mailed_links import LinkState
from schema.accounts.accounts import LONGEST_SIGN_UP_TOKEN

_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
_SIGN_UP_TOKEN = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}")

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


def sign_up_token(text: str) -> str:
    """The token of a link that is signed instead of stored; empty if it is malformed."""
    return text if len(text) <= LONGEST_SIGN_UP_TOKEN and _SIGN_UP_TOKEN.fullmatch(text) else ""
