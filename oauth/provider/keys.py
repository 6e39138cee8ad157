"""Keys that sign id_tokens: created when first needed, rotated, and published until their tokens expire."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from functools import lru_cache
from typing import Any

from joserfc.jwk import KeySet, RSAKey
from sqlalchemy import or_, select

from storage.clock import now
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.rows.rows import every_of, insert_row, table_of, update_rows
from storage.sealing import Purpose, Unreadable, seal, unseal
from storage.tables.credentials.signing_keys import SigningKeyRow

ALGORITHM = "RS256"
KEY_BITS = 2048
ID_TOKEN_LIFE = timedelta(hours=1)
# The clocks of clients that check a token may lag behind ours.
_PUBLISHED_AFTER_RETIREMENT = ID_TOKEN_LIFE + timedelta(minutes=10)
# A process needs one, and for a moment two while keys rotate.
_MOST_OPENED = 4

_keys = table_of(SigningKeyRow)


async def signing_key(database: Database, secret: bytes) -> RSAKey:
    """The current signing key; a new one if `secret` opens none."""
    statement = select(_keys).where(_keys.c.retired_at.is_(None)).order_by(_keys.c.created_at.desc())
    async with database.read() as connection:
        rows = await every_of(connection, SigningKeyRow, statement)
    for row in rows:
        with suppress(Unreadable):
            return _opened(row.private_key, row.kid, secret)
    return await rotate(database, secret)


async def rotate(database: Database, secret: bytes) -> RSAKey:
    """A new key that signs from now on, in every process; the previous keys retire."""
    # Finding primes takes up to a second of processor time, so it runs in a thread.
    key = await asyncio.to_thread(RSAKey.generate_key, KEY_BITS, private=True)
    kid = key.thumbprint()
    sealed = _sealed(key, kid, secret)
    async with database.write() as connection:
        await update_rows(connection, SigningKeyRow, _keys.c.retired_at.is_(None), retired_at=now())
        await insert_row(
            connection,
            SigningKeyRow,
            kid=kid,
            public_key=_published(key.as_dict(private=False), kid),
            private_key=sealed,
        )
    # As the next request finds it, which so need not open it.
    return _opened(sealed, kid, secret)


async def published_keys(connection: Connection) -> list[dict[str, Any]]:
    """The public keys of all tokens that may still be valid, as in a JWK Set."""
    is_published = or_(_keys.c.retired_at.is_(None), _keys.c.retired_at > now() - _PUBLISHED_AFTER_RETIREMENT)
    statement = select(_keys.c.public_key).where(is_published).order_by(_keys.c.created_at)
    return list((await connection.execute(statement)).scalars())


async def every_public_key(connection: Connection) -> KeySet:
    """The public keys of all tokens that we ever signed: a hint may have expired long ago."""
    rows = (await connection.execute(select(_keys.c.public_key))).scalars()
    return KeySet([RSAKey.import_key(row) for row in rows])


def _published(public_key: Mapping[str, Any], kid: str) -> dict[str, Any]:
    return {**public_key, "kid": kid, "use": "sig", "alg": ALGORITHM}


def _sealed(key: RSAKey, kid: str, secret: bytes) -> str:
    private_key = json.dumps(key.as_dict(private=True)).encode()
    return seal(secret, Purpose.SIGNING_KEY, private_key, kid)


@lru_cache(_MOST_OPENED)
def _opened(sealed: str, kid: str, secret: bytes) -> RSAKey:
    """The private key. Raises `Unreadable` if another secret sealed it.

    OpenSSL checks the primes of a key that it is given, for 50 ms of processor time.
    """
    private_key = json.loads(unseal(secret, Purpose.SIGNING_KEY, sealed, kid))
    return RSAKey.import_key({**private_key, "kid": kid})
