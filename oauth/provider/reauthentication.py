"""Signing in again for one authorization request (`prompt=login`, `max_age`).

A sign-in for a request stores the request's digest in the new session. Only that session, for that request,
counts as fresh, for ten minutes and until the request is answered.
"""

from datetime import datetime, timedelta
from hashlib import sha256
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

from sqlalchemy import update

from oauth.provider.protocol import Pairs
from storage.clock import now
from storage.engine.connections import Connection
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow

LIFE = timedelta(minutes=10)
MOST_PARAMETERS = 50

_credentials = table_of(CredentialRow)


def read_pairs(query: str) -> Pairs:
    """The parameters of an authorization request, in their order. Raises ValueError."""
    return parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=MOST_PARAMETERS)


def digest_of(pairs: Pairs) -> str:
    """SHA-256 in hex of all parameters, the client's state and nonce included."""
    return sha256(urlencode(pairs).encode()).hexdigest()


def is_fresh(signed_in_for: str | None, signed_in_at: datetime, pairs: Pairs) -> bool:
    """Whether the session was started for this request at most ten minutes ago."""
    return signed_in_for == digest_of(pairs) and now() - signed_in_at <= LIFE


async def spend(connection: Connection, session_id: UUID, pairs: Pairs) -> bool:
    """Use up the session's sign-in for this request. Returns whether it was unused."""
    unspent = (_credentials.c.id == session_id) & (_credentials.c.authorization_digest == digest_of(pairs))
    spent = await connection.execute(update(_credentials).where(unspent).values(authorization_digest=None))
    return spent.rowcount == 1
