"""What judging a password takes of the processor, whatever the password is."""

import pytest
from hypothesis import given, settings

from oauth.sign_in.password_strength import is_easy_to_guess
from tests.support.callers.password_texts import LIKE_LETTERS, LONGEST, PASSWORDS
from tests.support.measures.work import counted_lines

ABOUT = ["ada@example.com", "ada", "example.com", "Ada Lovelace"]
# Lines of code: half of them take 20 ms.
MOST_LINES = 1_000_000


def lines_for(password: str) -> int:
    with counted_lines() as lines:
        is_easy_to_guess(password, ABOUT)
    return lines.number


@settings(max_examples=60)
@given(PASSWORDS)
def test_no_password_takes_more_work_than_a_long_one(password):
    assert lines_for(password) <= MOST_LINES


@pytest.mark.parametrize("length", [12, 24, LONGEST])
def test_characters_that_read_as_letters_do_not_multiply_the_work(length):
    assert lines_for(("".join(LIKE_LETTERS) * LONGEST)[:length]) <= MOST_LINES


@pytest.mark.parametrize(
    ("password", "is_easy"),
    [
        ("P4ssw0rd!!99", True),
        ("4@8({[<36!1|0$5+7%2", False),
        ("correct horse battery staple", False),
        ("passwordpasswordpassword", True),
        ("a" * 40 + "correct horse battery staple", True),
    ],
)
def test_a_password_is_judged_by_its_start(password, is_easy):
    assert is_easy_to_guess(password, ABOUT) is is_easy
