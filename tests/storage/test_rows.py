"""Reading and writing rows: what the table does not have is refused, and no sort key loses a row."""

from datetime import datetime
from uuid import uuid4

import pytest
from sqlalchemy.exc import NoResultFound

from storage.rows.row_values import with_defaults
from storage.rows.rows import insert_row, one, table_of
from storage.tables.accounts.users import UserRow
from storage.totals.events import events_of

USERS = table_of(UserRow)
NAMED = {"b@example.com": "Bea", "a@example.com": "Ada", "c@example.com": None, "d@example.com": None}


@pytest.mark.parametrize(
    ("sorting", "order"), [("name", "ab"), ("-name", "ba")], ids=["ascending", "descending"]
)
async def test_a_walk_by_an_optional_key_meets_the_rows_without_it_last_and_each_once(
    surface, sorting, order
):
    for email, name in NAMED.items():
        await surface.create_customer(data={"email": email, "name": name})
    found, after = [], {}
    for _ in NAMED:
        page = await surface.list_customers(sorting=[sorting], limit=1, **after)
        found += [customer["email"][0] for customer in page["data"]]
        after = {"after": page["meta"]["next_cursor"]}
    assert after == {"after": None}
    assert ("".join(found[:2]), sorted(found[2:])) == (order, ["c", "d"])


async def test_a_row_that_must_exist_and_does_not_is_an_error_that_names_its_table(gateway):
    async with gateway.database.read() as connection:
        with pytest.raises(NoResultFound, match="users has no such row"):
            await one(connection, UserRow, USERS.c.id == uuid4())


def test_a_value_for_a_column_that_the_table_lacks_is_refused():
    values = {"email": "a@example.com", "password_hash": "x"}
    assert with_defaults(UserRow, values)["email_folded"] == "a@example.com"
    with pytest.raises(TypeError, match=r"users has no columns \['emial', 'nmae'\]"):
        with_defaults(UserRow, {**values, "nmae": "Ada", "emial": "b@example.com"})


async def test_a_moment_without_a_time_zone_is_not_written(gateway):
    values = {"email": f"{uuid4().hex}@example.com", "password_hash": "x"}
    with pytest.raises(ValueError, match="A moment needs a time zone"):
        async with gateway.database.write() as connection:
            await insert_row(connection, UserRow, **values, email_verified_at=datetime(2026, 1, 31))


def test_an_event_that_were_deleted_could_not_be_taken_from_the_totals():
    with pytest.raises(ValueError, match="Events are never deleted"):
        list(events_of([], -1))
