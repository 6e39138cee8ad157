"""Challenges of passkey ceremonies: signed instead of stored, so that showing a page writes nothing.

A challenge is bound to one use and one browser and expires after 15 minutes. An answered challenge is stored
until then, so that it is accepted once.
"""

import secrets
from datetime import timedelta
from enum import StrEnum

from oauth.credentials import digest
from storage.clock import now
from storage.engine.connections import Connection
from storage.rows.rows import insert_new_rows
from storage.sealing import Purpose, is_signed, sign
from storage.tables.accounts.second_steps import AnsweredChallengeRow

LIFE = timedelta(minutes=15)


class ChallengeUse(StrEnum):
    """The purpose of a challenge."""

    CONFIRMATION = "confirmation"
    CREATION = "creation"
    SECOND_STEP = "second step"
    SIGN_IN = "sign-in"

    @property
    def is_alone(self) -> bool:
        """Whether the passkey is the only proof, so that the authenticator must verify its user."""
        return self in (ChallengeUse.CONFIRMATION, ChallengeUse.SIGN_IN)


def new_challenge(secret: bytes, use: ChallengeUse, binding: str) -> bytes:
    """A challenge for the browser with `binding`, a secret from its cookies."""
    random, end = secrets.token_urlsafe(24), str(int((now() + LIFE).timestamp()))
    signature = sign(secret, Purpose.PASSKEY_CHALLENGE, random, end, use, binding)
    return f"{random}.{end}.{signature}".encode()


def is_open(secret: bytes, use: ChallengeUse, binding: str, challenge: bytes) -> bool:
    """Whether we issued the challenge for this use and this browser less than 15 minutes ago."""
    random, _, rest = challenge.decode("ascii", "replace").partition(".")
    end, _, signature = rest.partition(".")
    if not is_signed(secret, Purpose.PASSKEY_CHALLENGE, signature, random, end, use, binding):
        return False
    return now().timestamp() < int(end)


async def answer(connection: Connection, challenge: bytes) -> bool:
    """Record an answer to the challenge. Returns whether it is the first."""
    moment = now()
    row = {"hash": digest(challenge.decode()), "created_at": moment, "expires_at": moment + LIFE}
    return bool(await insert_new_rows(connection, AnsweredChallengeRow, [row]))
