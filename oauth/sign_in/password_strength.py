"""Detection of guessable passwords by zxcvbn, with its lists of common passwords, words and names.

What it costs is bounded before it begins, for any text.
"""

from collections.abc import Iterable

from zxcvbn import matching, zxcvbn

# Scores are 0 to 4; from 3 on, a password withstands 100,000,000 guesses.
LOWEST_SCORE = 3
# zxcvbn looks every part of a text up, once for each reading of the characters that may stand for letters.
# A 4 may be an `a`, so that readings multiply with the kinds of such characters: 576 of 21 kinds.
LONGEST_JUDGED = 36
MOST_WORK = 10_000
OWN_NAME = "duograph"


def is_easy_to_guess(password: str, about: Iterable[str | None]) -> bool:
    """Whether the password's start is common, a pattern, or consists of texts `about` its user."""
    start = judged_start(password)
    # What was cut off the password must not hide that it is one of these texts.
    user_inputs = [OWN_NAME, *(text[: len(start)] for text in about if text)]
    return int(zxcvbn(start, user_inputs=user_inputs)["score"]) < LOWEST_SCORE


def judged_start(password: str) -> str:
    """The longest start whose judgement takes at most `MOST_WORK`: readings times the length's square.

    A start is guessed no later than the whole. Nine characters of any kinds fit.
    """
    start, readings, kinds = password[:LONGEST_JUDGED], 1, 0
    for length in range(1, len(start) + 1):
        if len(set(start[:length])) > kinds:
            kinds = len(set(start[:length]))
            readings = readings_of(start[:length])
        if readings * length * length > MOST_WORK:
            return start[: length - 1]
    return start


def readings_of(text: str) -> int:
    """In how many ways zxcvbn replaces characters that look like letters: 1 if the text has none of them."""
    table = matching.relevant_l33t_subtable(text, matching.L33T_TABLE)
    return len(matching.enumerate_l33t_subs(table))
