"""Detection of guessable passwords by zxcvbn, with its lists of common passwords, words and names."""

from collections.abc import Iterable

from zxcvbn import zxcvbn

# Scores are 0 to 4; from 3 on, a password withstands 100,000,000 guesses.
LOWEST_SCORE = 3
# The time grows faster than the length: 64 characters take 0.1 s on one core, 0.5 s at worst.
LONGEST_JUDGED = 64
OWN_NAME = "duograph"


def is_easy_to_guess(password: str, about: Iterable[str | None]) -> bool:
    """Whether the password's start is common, a pattern, or consists of texts `about` its user."""
    user_inputs = [OWN_NAME, *(text for text in about if text)]
    return int(zxcvbn(password[:LONGEST_JUDGED], user_inputs=user_inputs)["score"]) < LOWEST_SCORE
