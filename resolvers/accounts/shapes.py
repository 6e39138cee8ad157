"""The shape of users as the other members of their workspaces see them."""

from typing import Any

from sqlalchemy import FromClause, Select, select

from resolvers.operations.shapes.shapes import Part, Shape
from schema.accounts.people import Person
from storage.rows.rows import table_of
from storage.tables.accounts.users import UserRow

_users = table_of(UserRow)
PERSON = Shape(Person, _users)


def person_of(column: str) -> Part:
    """The user that this column of the row refers to; null if the column is."""

    def user_of(row: FromClause) -> Select[Any]:
        return select(_users).where(_users.c.id == row.c[column])

    return Part(PERSON, user_of, many=False)
