"""Users by id, for resources that show their creator."""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import select

from oauth.principals import Principal
from schema.people import Person
from storage.connections import Connection
from storage.rows import table_of
from storage.tables.users import UserRow

_users = table_of(UserRow)


async def find_people(connection: Connection, ids: Iterable[UUID | None]) -> dict[UUID | None, Person]:
    """The users with these ids; None is skipped."""
    user_ids = {id for id in ids if id is not None}
    if not user_ids:
        return {}
    statement = select(_users.c.id, _users.c.email, _users.c.name).where(_users.c.id.in_(user_ids))
    users = await connection.execute(statement)
    return {user.id: Person(id=user.id, email=user.email, name=user.name) for user in users}


def creator_of(principal: Principal) -> UUID | None:
    """The user recorded as creator of what the principal creates; for a token, the token's creator."""
    return principal.user_id or principal.maker_user_id
