"""When two email addresses are the same, and which domain a mail is sent to."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.settings.values.mail_addresses import parse_sender
from storage.emails import ascii_domain, fold_email

LOCAL = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
DOMAIN = st.sampled_from(["firm.test", "FIRM.test", "straße.test", "münchen.test", "xn--mnchen-3ya.test"])


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("Boss@Firm.TEST", "boss@firm.test"),
        ("jos\u00e9@firm.test", "jose\u0301@firm.test"),
        ("ada@MÜNCHEN.test", "ada@xn--mnchen-3ya.test"),
        ("ada@ｆｉｒｍ.test", "ada@firm.test"),  # noqa: RUF001
        ("ada@XN--MNCHEN-3YA.test", "ada@mu\u0308nchen.test"),
    ],
)
def test_spellings_of_one_address_are_the_same(one, another):
    assert fold_email(one) == fold_email(another)


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("weiß@firm.test", "weiss@firm.test"),
        ("bo\u017fs@firm.test", "boss@firm.test"),
        ("o\ufb03ce@firm.test", "office@firm.test"),
        ("\u00c9ve@firm.test", "\u00e9ve@firm.test"),
        ("eve@straße.test", "eve@strasse.test"),
        ("ma\u0131l@firm.test", "mail@firm.test"),
    ],
)
def test_other_mailboxes_are_not_the_same(one, another):
    assert fold_email(one) != fold_email(another)


@given(LOCAL, DOMAIN)
def test_folding_again_changes_nothing_and_no_letter_but_ascii(local, domain):
    folded = fold_email(f"{local}@{domain}")
    assert fold_email(folded) == folded
    kept = folded.rpartition("@")[0]
    composed = unicodedata.normalize("NFC", local)
    assert len(kept) == len(composed)
    assert all(
        old == new or (old.isascii() and old.lower() == new) for old, new in zip(composed, kept, strict=True)
    )


@given(st.text(max_size=40))
def test_any_text_can_be_looked_for(text):
    assert fold_email(fold_email(text)) == fold_email(text)


def test_mail_for_a_domain_goes_to_that_domain():
    assert ascii_domain("straße.test") == "xn--strae-oqa.test"
    assert parse_sender("Eve <eve@straße.test>").domain == "xn--strae-oqa.test"
    with pytest.raises(ValueError, match="not allowed"):
        ascii_domain("☃.test")
