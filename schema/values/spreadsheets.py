"""Texts in the cells of a CSV file: exactly, or so that a spreadsheet shows them and does not run them."""

import re
from enum import StrEnum

# A spreadsheet runs a cell that begins with one of these, also in the wide forms of East Asian keyboards. It
# may leave out blanks and quotes before it.
_FORMULA = re.compile(r"""(?:^|(?<![;\s"'])[;\s"']++)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])""")
# Where the semicolon or the tab separates cells, these end one even between quotes.
_SEPARATORS = frozenset(";\t\r\n")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")


class CsvFormat(StrEnum):
    """How a CSV file has texts that a spreadsheet would run: so that it does not, or exactly."""

    SPREADSHEET = "spreadsheet"
    RAW = "raw"


def harmless(text: str) -> str:
    """The text with an apostrophe before whatever in it a spreadsheet would run; a number stays as it is."""
    if _NUMBER.fullmatch(text):
        return text
    guarded = _FORMULA.sub(_guarded, text)
    return f"'{guarded}" if guarded[:1] in _SEPARATORS else guarded


def _guarded(before: re.Match[str]) -> str:
    """What stands before a formula, with an apostrophe if a cell may begin there."""
    blanks = before[0]
    ends_a_cell = not _SEPARATORS.isdisjoint(blanks)
    return ("" if before.start() else "'") + blanks + ("'" if ends_a_cell else "")
