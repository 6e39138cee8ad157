"""Browsers that have signed in before: what somebody else tries does not delay them.

A browser keeps a token for each of its last users. A token is a random text with a signature of it, of the
user and of the password's hash, so it ends with the password; the service stores none.
"""

import re
import secrets

from resolvers.operations.context import Context
from storage.sealing import Purpose, is_signed, sign
from storage.tables.users import UserRow

# Of so many users one browser keeps the tokens.
MOST_TOKENS = 4
DAYS_KEPT = 400
SEPARATOR = ":"
_TOKENS = re.compile(r"[A-Za-z0-9_.:-]{1,400}")


def find_token(ctx: Context, user: UserRow | None, tokens: str) -> str | None:
    """The token of these that is the user's; what one browser tries is counted by it."""
    if user is None or not _TOKENS.fullmatch(tokens):
        return None
    for token in tokens.split(SEPARATOR)[:MOST_TOKENS]:
        text, _, signature = token.partition(".")
        if is_signed(ctx.services.secret_key, Purpose.KNOWN_BROWSER, signature, text, *_about(user)):
            return token
    return None


def renew_token(ctx: Context, user: UserRow, tokens: str) -> str:
    """The browser's tokens with a new one of the user, who has signed in there, before the others."""
    text = secrets.token_urlsafe(16)
    token = f"{text}.{sign(ctx.services.secret_key, Purpose.KNOWN_BROWSER, text, *_about(user))}"
    kept = tokens.split(SEPARATOR) if _TOKENS.fullmatch(tokens) else []
    former = find_token(ctx, user, tokens)
    return SEPARATOR.join([token, *(one for one in kept if one != former)][:MOST_TOKENS])


def _about(user: UserRow) -> tuple[str, str]:
    return str(user.id), user.password_hash
