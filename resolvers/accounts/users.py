"""Users, written and read without permission checks: for commands, and for resolvers that have checked."""

from uuid import UUID

from sqlalchemy import delete, select, update
from sqlmodel import SQLModel

from oauth.revocation.grants import end_user
from oauth.sign_in.passwords import hash_password
from schema.languages.speech import language_of_page
from storage.clock import now
from storage.emails import fold_email
from storage.engine.connections import Connection
from storage.rows.rows import delete_row, every_of, first, insert_row, one, table_of, update_row
from storage.tables.accounts.users import UserRow
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_grants import OAuthGrantRow

_users, _grants, _credentials = table_of(UserRow), table_of(OAuthGrantRow), table_of(CredentialRow)

# Rows that outlive the user; all other rows that refer to a user are deleted with it.
_KEPT_WITHOUT_USER = {
    ("credentials", "maker_user_id"),
    ("oauth_clients", "maker_user_id"),
    ("oauth_clients", "user_id"),
    ("workspace_members", "invited_by_user_id"),
}


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


async def learn_language(connection: Connection, user: UserRow) -> UserRow:
    """Keep the language of the page that the user is on, unless they have one or are on none."""
    language = language_of_page()
    if user.language is not None or language is None:
        return user
    return await update_row(connection, UserRow, user, language=language, modified_at=user.modified_at)


async def find_user(connection: Connection, email: str) -> UserRow | None:
    """The user with this email, in any spelling."""
    return await first(connection, UserRow, _users.c.email_folded == fold_email(email))


async def list_users(connection: Connection, limit: int) -> list[UserRow]:
    """The users who were created first."""
    statement = select(_users).order_by(_users.c.created_at, _users.c.id).limit(limit)
    return await every_of(connection, UserRow, statement)


async def delete_user(connection: Connection, user: UserRow) -> None:
    """Delete a user who belongs to no workspace and owns no OAuth client, and every row of the user's own."""
    await end_user(connection, user.id)
    grants = select(_grants.c.id).where(_grants.c.user_id == user.id)
    await connection.execute(delete(_credentials).where(_credentials.c.grant_id.in_(grants)))
    for table in reversed(SQLModel.metadata.sorted_tables):
        for column in table.c:
            if column.references(_users.c.id):
                own = column == user.id
                if (table.name, column.name) in _KEPT_WITHOUT_USER:
                    await connection.execute(update(table).where(own).values({column: None}))
                else:
                    await connection.execute(delete(table).where(own))
    await delete_row(connection, UserRow, user)


async def lock_user(connection: Connection, user_id: UUID) -> UserRow:
    """The user's row, locked until the transaction ends."""
    return await one(connection, UserRow, _users.c.id == user_id, lock=True)
