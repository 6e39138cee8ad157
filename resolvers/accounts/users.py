"""Users, written and read without permission checks: for commands, and for resolvers that have checked."""

from uuid import UUID

from oauth.passwords import hash_password
from storage.clock import now
from storage.connections import Connection
from storage.emails import fold_email
from storage.rows import first, insert_row, one, table_of, update_row
from storage.tables.users import UserRow

_users = table_of(UserRow)


async def create_user(connection: Connection, email: str, password: str, name: str | None) -> UserRow:
    """Create a user whose email the operator vouches for. Raises `Duplicate`."""
    user = await insert_user(connection, email, hash_password(password), name)
    return await verify_address(connection, user)


async def insert_user(connection: Connection, email: str, password_hash: str, name: str | None) -> UserRow:
    """Create a user with an unconfirmed email. Raises `Duplicate`."""
    return await insert_row(connection, UserRow, email=email, name=name, password_hash=password_hash)


async def verify_address(connection: Connection, user: UserRow) -> UserRow:
    """Mark the email as confirmed: the user then sees the invitations to it."""
    return await update_row(connection, UserRow, user, email_verified_at=now(), modified_at=user.modified_at)


async def find_user(connection: Connection, email: str) -> UserRow | None:
    """The user with this email, in any spelling."""
    return await first(connection, UserRow, _users.c.email_folded == fold_email(email))


async def lock_user(connection: Connection, user_id: UUID) -> UserRow:
    """The user's row, locked until the transaction ends."""
    return await one(connection, UserRow, _users.c.id == user_id, lock=True)
