"""Users, written and read without permission checks: for commands, and for resolvers that have checked."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from oauth.passwords import hash_password
from storage.clock import now
from storage.emails import fold_email
from storage.rows import Values, insert_row, table_of, update_row
from storage.tables.users import UserRow


async def create_user(connection: AsyncConnection, email: str, password: str, name: str | None) -> Values:
    """A new user, whose address the operator vouches for. Raises `Duplicate`."""
    user = await insert_user(connection, email, hash_password(password), name)
    return await verify_address(connection, user)


async def insert_user(
    connection: AsyncConnection, email: str, password_hash: str, name: str | None
) -> Values:
    """A new user, of whom nobody knows yet whether the address is theirs. Raises `Duplicate`."""
    return await insert_row(connection, UserRow, email=email, name=name, password_hash=password_hash)


async def verify_address(connection: AsyncConnection, user: Values) -> Values:
    """Note that the address is the user's, who then sees the invitations to it."""
    return await update_row(connection, UserRow, user, email_verified_at=now(), modified_at=user.modified_at)


async def find_user(connection: AsyncConnection, email: str) -> Values | None:
    """The user with this address, in whatever spelling."""
    users = table_of(UserRow)
    found = await connection.execute(select(users).where(users.c.email_folded == fold_email(email)))
    row = found.mappings().first()
    return dict(row) if row else None


async def lock_user(connection: AsyncConnection, user_id: UUID) -> Values:
    """The user as they are, and stay until the transaction ends."""
    users = table_of(UserRow)
    found = await connection.execute(select(users).where(users.c.id == user_id).with_for_update())
    return dict(found.mappings().one())
