"""Browsers that have signed in before: attempts from other browsers do not delay them.

A browser keeps a token for each of its last users: a random text, signed together with the user and the
password's hash. So the token ends with the password, and the service stores none.
"""

import re
import secrets

from resolvers.operations.context import Context
from storage.sealing import Purpose, is_signed, sign
from storage.tables.accounts.users import UserRow

# A browser keeps the tokens of this many users.
MOST_TOKENS = 4
DAYS_KEPT = 400
SEPARATOR = ":"
_TOKENS = re.compile(r"[A-Za-z0-9_.:-]{1,400}")


def find_token(ctx: Context, user: UserRow | None, tokens: str) -> str | None:
    """The user's token among these; the attempts of a browser are counted by it."""
    if user is None or not _TOKENS.fullmatch(tokens):
        return None
    for token in tokens.split(SEPARATOR)[:MOST_TOKENS]:
        text, _, signature = token.partition(".")
        if is_signed(ctx.services.secret_key, Purpose.KNOWN_BROWSER, signature, text, *_about(user)):
            return token
    return None


def renew_token(ctx: Context, user: UserRow, tokens: str) -> str:
    """The browser's tokens with a new one first, of the user who has just signed in."""
    text = secrets.token_urlsafe(16)
    token = f"{text}.{sign(ctx.services.secret_key, Purpose.KNOWN_BROWSER, text, *_about(user))}"
    kept = tokens.split(SEPARATOR) if _TOKENS.fullmatch(tokens) else []
    former = find_token(ctx, user, tokens)
    return SEPARATOR.join([token, *(one for one in kept if one != former)][:MOST_TOKENS])


def _about(user: UserRow) -> tuple[str, str]:
    return str(user.id), user.password_hash
