"""Limits of the small lists of a workspace or a user, which have no totals: counted before a row is added."""

from sqlalchemy import ColumnElement, func, select
from sqlmodel import SQLModel

from schema.errors import NotPermitted
from storage.engine.connections import Connection
from storage.rows.rows import table_of

# Far above what people need. What has ended and is kept counts too, or creating and ending has no limit.
MOST = 10_000


async def check_room(
    connection: Connection, model: type[SQLModel], where: ColumnElement[bool], name: str, remedy: str
) -> None:
    """Raise `NotPermitted` if the list has no room for another row; an index finds the rows of `where`."""
    some = select(1).select_from(table_of(model)).where(where).limit(MOST).subquery()
    number = (await connection.execute(select(func.count()).select_from(some))).scalar_one()
    if number >= MOST:
        raise NotPermitted(f"There are {number:,} {name}, and {MOST:,} is the limit: {remedy}.")
