"""The user of a browser's session."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select

from resolvers.operations.context import Context
from storage.enums import Language
from storage.rows.rows import table_of
from storage.tables.accounts.users import UserRow
from storage.tables.credentials.credentials import CredentialRow

_users, _credentials = table_of(UserRow), table_of(CredentialRow)


@dataclass(frozen=True)
class SignedIn:
    """The signed-in user.

    `at` is when they authenticated, `session_id` the session's credential, and `signed_in_for` the digest
    of the authorization request that they signed in for.
    """

    id: UUID
    email: str
    name: str | None
    language: Language | None
    email_verified: bool
    session_id: UUID
    at: datetime
    signed_in_for: str | None


async def find_signed_in(ctx: Context, session_id: UUID) -> SignedIn | None:
    """The session's user; None if the account was deleted a moment ago."""
    statement = (
        select(_users, _credentials.c.authenticated_at, _credentials.c.authorization_digest)
        .join_from(_credentials, _users, _credentials.c.user_id == _users.c.id)
        .where(_credentials.c.id == session_id)
    )
    async with ctx.read() as connection:
        row = (await connection.execute(statement)).first()
    if row is None:
        return None
    is_verified = row.email_verified_at is not None
    return SignedIn(
        row.id,
        row.email,
        row.name,
        None if row.language is None else Language(row.language),
        is_verified,
        session_id,
        row.authenticated_at,
        row.authorization_digest,
    )
