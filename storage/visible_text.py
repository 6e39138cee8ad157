"""What of a text can be seen: hidden and reordering characters come out of names that people read.

By Unicode's general categories and its list of default-ignorable code points (DerivedCoreProperties.txt).
"""

import re
import unicodedata

# They join or part letters in some scripts, and emoji; between others they only hide.
JOINERS = frozenset("\u200c\u200d\u180e")
# Nothing below the first script that joiners are for (Hebrew) needs them: Latin, Greek, Cyrillic.
FIRST_JOINED = "\u0590"
# Format characters that are seen: signs before numbers and verses.
SEEN = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
# Letters, marks and symbols that look like nothing.
BRAILLE_BLANK = "\u2800"
BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufffc\u2065")
HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})

_BREAKS = re.compile(r"[\t-\r\x85\u2028\u2029]+")
_JOINED = re.compile(f"[{''.join(JOINERS)}]+")
# A flag of a region is a black flag and its code in characters that are hidden elsewhere.
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def without_hidden(text: str) -> str:
    """The text without control, format, reordering and blank characters and lone surrogates.

    Joiners stay between letters of scripts that have them and within emoji. Idempotent.
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
    """A name as it is shown: one line, nothing hidden, no blanks around it and no lone marks before it.

    What is left begins with a character that is seen; it is empty where there is none.
    """
    line = without_hidden(_BREAKS.sub(" ", text)).strip()
    while line and (_is_mark(line[0]) or _is_blank(line[0]) or line[0] in JOINERS):
        line = line[1:]
    return line.rstrip(BRAILLE_BLANK).rstrip()


def count_characters(name: str) -> int:
    """How many characters a clean name has: all but joiners and selectors of variants; a flag is one."""
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


def _joiner(found: re.Match[str]) -> str:
    """The first of the joiners where what is on both sides can be joined, else nothing."""
    before, after = found.string[: found.start()][-1:], found.string[found.end() :][:1]
    is_between = all(side >= FIRST_JOINED and not _is_blank(side) for side in (before, after))
    return found[0][0] if is_between else ""


def _is_blank(character: str) -> bool:
    return character.isspace() or character == BRAILLE_BLANK


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")
