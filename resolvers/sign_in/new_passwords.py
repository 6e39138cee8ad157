"""The rules for new passwords."""

from oauth.sign_in.passwords import hash_password_aside, is_easy_to_guess_aside
from schema.errors import Invalid, problem

EASY_TO_GUESS = "This password is easy to guess: choose a longer or less common one"


async def hash_new_password(password: str, email: str, name: str | None, field: str = "password") -> str:
    """Hash the password. Raises `Invalid` if it is easy to guess, also from the user's email or name."""
    if await is_easy_to_guess_aside(password, [email, *email.split("@"), name]):
        raise Invalid([problem(("data", field), EASY_TO_GUESS, "password")])
    return await hash_password_aside(password)
