"""The rules for new passwords."""

from oauth.sign_in.passwords import TooManyNewPasswords, hash_new_password_aside
from resolvers.operations.context import Context
from schema.errors import Invalid, Unavailable, problem

EASY_TO_GUESS = "This password is easy to guess: choose a longer or less common one"
RETRY_AFTER_SECONDS = 5


async def hash_new_password(
    ctx: Context, password: str, email: str, name: str | None, *, account: str, field: str = "password"
) -> str:
    """Hash the password, for a call of the lower budget of the `account` too.

    Raises `Invalid` if it is easy to guess, also from the user's email or name, `RateLimited`, and
    `Unavailable` while too many new passwords wait.
    """
    await ctx.caller.budget.charge(f"new-password:{account}", 1, None, restricted=True)
    try:
        password_hash = await hash_new_password_aside(password, [email, *email.split("@"), name])
    except TooManyNewPasswords:
        raise Unavailable(
            "Many new passwords are being checked now. Send yours again in a moment.",
            {"Retry-After": str(RETRY_AFTER_SECONDS)},
        ) from None
    if password_hash is None:
        raise Invalid([problem(("data", field), EASY_TO_GUESS, "password")])
    return password_hash
