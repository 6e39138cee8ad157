"""Which passwords are too easy to guess: zxcvbn, with its lists of common passwords, words and names."""

from collections.abc import Iterable

from zxcvbn import zxcvbn

# Of 0 to 4: from 3 on, 100,000,000 guesses do not suffice.
LOWEST_SCORE = 3
# Judging takes time that grows faster than the length: 0.1 s for these on one core, 0.5 s at worst.
LONGEST_JUDGED = 64
OWN_NAME = "duograph"


def is_easy_to_guess(password: str, about: Iterable[str | None]) -> bool:
    """Whether it is common, a pattern, or made of what is known `about` its user; its start is judged."""
    known = [OWN_NAME, *(text for text in about if text)]
    return int(zxcvbn(password[:LONGEST_JUDGED], user_inputs=known)["score"]) < LOWEST_SCORE
