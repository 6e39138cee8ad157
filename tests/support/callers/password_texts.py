"""Passwords as an attacker grows them: from characters that read as letters, words, dates and repetitions."""

from hypothesis import strategies as st
from zxcvbn.matching import L33T_TABLE

LONGEST = 64
LIKE_LETTERS = tuple(sorted({sign for signs in L33T_TABLE.values() for sign in signs}))
PIECES = (
    *LIKE_LETTERS,
    *"abcegilostxz",
    "password",
    "the",
    "an",
    "in",
    "1234",
    "qwerty",
    "12/12/2001",
    "€",
    "İ",
)

_alphabets = st.one_of(
    st.just(LIKE_LETTERS), st.just(PIECES), st.lists(st.sampled_from(PIECES), min_size=1, max_size=12)
)
_texts = _alphabets.flatmap(
    lambda pieces: st.lists(st.sampled_from(pieces), min_size=1, max_size=LONGEST).map("".join)
)
# A text as it is, and one that grew out of its beginning.
PASSWORDS = st.one_of(
    _texts, st.builds(lambda text, unit: (text[:unit] * LONGEST)[:LONGEST], _texts, st.integers(1, 32))
)
