"""Clean names keep everything that people write and nothing that hides or reorders text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.visible_text import clean_name, count_characters

ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
TROUBLE = st.sampled_from(
    "ab \u200b\u200c\u200d\u202e\u2066\u2069\ufeff\u00ad\u3164\u2800\ufe0f\u0301\n\t\x07\u2028"
    "\u05d0\u0915\u094d\u3042\U0001f468\U0001f3f4\U000e0067\U000e007f\ud800/."
)


@pytest.mark.parametrize(
    "name",
    [
        "Ada Lovelace",
        "Zoë & Søn, Nº 1 - «Äpfel»",
        "e\u0301tude",
        "שלום עולם",
        "می\u200cخوشم",
        "क्\u200dष ज्ञ",
        "ශ්\u200dරී ලංකා",
        "山田\u3000太郎",
        "葛\U000e0100城",
        "\u0661\u0662 \u0600\u0663",
        FAMILY,
        "❤\ufe0f\u200d\U0001f525",
        "1\ufe0f\u20e3",
        f"{ENGLAND} and \U0001f1eb\U0001f1f7",
        "\u2801\u2800\u2803",
    ],
)
def test_what_people_write_stays_as_it_is(name: str) -> None:
    assert clean_name(name) == name


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("abc\u202egpj", "abcgpj"),
        ("\u2066ab\u2069c\u200f", "abc"),
        ("pay\u200dpal\u200c", "paypal"),
        ("a\u00adb\u2060c\ufeff", "abc"),
        ("abc\x07\x00", "abc"),
        ("ACME\n\nYour account\u2028is locked", "ACME Your account is locked"),
        ("\u200b\u200b\u200b", ""),
        ("\u3164\uffa0\u115f\u034f", ""),
        ("\u2800\u2800", ""),
        (" \u00a0\u3000 ", ""),
        ("\u0301\ufe0f", ""),
        ("\u0301abc", "abc"),
        ("hi\U000e0068\U000e0069", "hi"),
        ("0\u2800\u2028\u2800", "0"),
        (f"\u200d{FAMILY}\u200d", FAMILY),
        ("क्\u200d\u200dष", "क्\u200dष"),
    ],
)
def test_what_hides_or_reorders_is_taken_out(name: str, left: str) -> None:
    assert clean_name(name) == left


@given(st.text() | st.text(TROUBLE, max_size=12))
def test_a_clean_name_is_clean_and_stays_so(text: str) -> None:
    name = clean_name(text)
    assert clean_name(name) == name
    assert name == name.strip()
    assert not {unicodedata.category(character) for character in name} & {"Cc", "Cs", "Zl", "Zp"}
    assert not name or count_characters(name[0]) == 1
    assert not name or not (name[0].isspace() or unicodedata.category(name[0]).startswith("M"))


@pytest.mark.parametrize(
    ("name", "characters"),
    [
        ("A B", 3),
        ("Zoë", 3),
        (FAMILY, 3),
        ("❤\ufe0f", 1),
        (ENGLAND, 1),
        ("葛\U000e0100城", 2),
        ("می\u200cخ", 3),
    ],
)
def test_blanks_count_and_what_only_joins_or_varies_does_not(name: str, characters: int) -> None:
    assert count_characters(name) == characters
