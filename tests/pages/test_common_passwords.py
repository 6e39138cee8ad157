"""Passwords that are long enough, and known from breaches of other services."""

from zxcvbn.frequency_lists import FREQUENCY_LISTS

from oauth.sign_in.password_strength import is_easy_to_guess
from schema.accounts.accounts import SHORTEST_PASSWORD


def test_no_common_password_that_is_long_enough_is_accepted():
    """The list has the 30,000 most common passwords of 10 million that were published."""
    common = [password for password in FREQUENCY_LISTS["passwords"] if len(password) >= SHORTEST_PASSWORD]
    assert len(common) > 200
    for spelled in (str, str.upper, str.title):
        assert [word for word in common if not is_easy_to_guess(spelled(word), ())] == []
