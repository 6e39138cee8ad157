"""Removing hidden and reordering characters from names that people read.

Uses Unicode's general categories and its default-ignorable code points (DerivedCoreProperties.txt).
"""

import re
import unicodedata

# They join or separate letters of some scripts, and emoji; elsewhere they are only invisible.
JOINERS = frozenset("\u200c\u200d\u180e")
# Scripts below Hebrew, the first that uses joiners, do not need them: Latin, Greek, Cyrillic.
FIRST_JOINED = "\u0590"
# Format characters that are visible: signs before numbers and verses.
SEEN = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
# Letters, marks and symbols that are blank.
BRAILLE_BLANK = "\u2800"
BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufffc\u2065")
HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})

_BREAKS = re.compile(r"[\t-\r\x85\u2028\u2029]+")
_JOINED = re.compile(f"[{''.join(JOINERS)}]+")
# A regional flag is a black flag followed by its code in characters that are hidden elsewhere.
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def without_hidden(text: str) -> str:
    """The text without control, format, reordering and blank characters and lone surrogates.

    Joiners stay between letters of scripts that use them and within emoji. Idempotent.
    """
    if text.isascii() and text.isprintable():
        return text
    shown, end = [], 0
    for flag in _FLAG.finditer(text):
        shown += [*filter(_is_kept, text[end : flag.start()]), flag[0]]
        end = flag.end()
    shown += filter(_is_kept, text[end:])
    return _JOINED.sub(_joiner, "".join(shown))


def clean_name(text: str) -> str:
    """The name as it is shown: one line without hidden characters, outer blanks or leading marks. Idempotent.

    The result begins with a visible character, or is empty.
    """
    line = without_hidden(_BREAKS.sub(" ", text))
    begin, end = 0, len(line)
    while begin < end and _cannot_begin(line[begin]):
        begin += 1
    while begin < end and _is_blank(line[end - 1]):
        end -= 1
    return line[begin:end]


def count_characters(name: str) -> int:
    """The number of characters in a clean name, without joiners and variation selectors; a flag is one."""
    counted = _FLAG.sub("\U0001f3f4", _SELECTORS.sub("", name))
    return sum(character not in JOINERS for character in counted)


def _is_kept(character: str) -> bool:
    if character in JOINERS or character in SEEN:
        return True
    if character in BLANKS or unicodedata.category(character) in HIDDEN:
        return False
    point = ord(character)
    is_ignorable = 0xFFF0 <= point <= 0xFFF8 or 0xE0000 <= point <= 0xE0FFF
    return not is_ignorable or 0xE0100 <= point <= 0xE01EF


def _joiner(joiners: re.Match[str]) -> str:
    """The first of these joiners if the characters on both sides can be joined, otherwise nothing."""
    before, after = joiners.string[: joiners.start()][-1:], joiners.string[joiners.end() :][:1]
    is_between = all(side >= FIRST_JOINED and not _is_blank(side) for side in (before, after))
    return joiners[0][0] if is_between else ""


def _is_blank(character: str) -> bool:
    return character.isspace() or character == BRAILLE_BLANK


def _cannot_begin(character: str) -> bool:
    """Whether it is blank, or belongs to a character before it."""
    return _is_blank(character) or character in JOINERS or unicodedata.category(character).startswith("M")
