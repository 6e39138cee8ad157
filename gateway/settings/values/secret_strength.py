"""Detects secret keys that others could guess."""

import re
from itertools import pairwise

FEWEST_CHARACTERS = 8
SHORTEST_REST = 16
# Words of examples and templates, and patterns that are quick to type.
_PLACEHOLDERS = re.compile(
    r"change|replace|secret|password|passw0rd|please|duograph|example|default|production|development|testing|"
    r"test|insert|your|this|with|key|me|here|admin|letmein|qwerty|asdf|hunter2|lorem|ipsum|[^a-z0-9]|"
    r"0123456789|123456789|12345678|abcdefghijklmnopqrstuvwxyz"
)


def is_guessable(secret: str) -> bool:
    """Whether a secret has few distinct characters, repeats itself, counts, or consists of common words."""
    steps = {ord(second) - ord(first) for first, second in pairwise(secret)}
    return (
        len(set(secret)) < FEWEST_CHARACTERS
        or secret in (secret + secret)[1:-1]
        or len(steps) < FEWEST_CHARACTERS
        or len(_PLACEHOLDERS.sub("", secret.lower())) < SHORTEST_REST
    )
