"""What the length of a document costs, counted before it is parsed: parsing and refusing it take as long."""

import re
from itertools import islice

from schema.credentials.oauth_client_documents import MOST_TOKENS

TOKENS_PER_CALL = 500
# Block strings, strings, comments, names, numbers, spreads, and other characters but white space and commas.
# One that does not end is read to the end of the text or line, so that no character is read twice.
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:""")?|"(?:[^"\\\n]|\\.)*+"?|\#[^\n\r]*|\w+|\.\.\.|[^\s,]',
    re.ASCII | re.DOTALL,
)


def calls_for_tokens(text: str) -> int:
    """What a document costs for each 500 tokens beyond its first 500, in calls."""
    # A token has at least one character.
    if len(text) <= TOKENS_PER_CALL:
        return 0
    tokens = sum(1 for _ in islice(_TOKEN.finditer(text), MOST_TOKENS))
    return max(0, -(-tokens // TOKENS_PER_CALL) - 1)
