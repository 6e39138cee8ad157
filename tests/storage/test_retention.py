"""What has ended is deleted after its time, and nothing else is: by an index, in batches, by many at once."""

import asyncio
import re
from datetime import timedelta

import pytest
import pytest_asyncio
from sqlalchemy import Date, select

from storage.clock import now
from storage.copies.marks import Mark, State, set_mark
from storage.dialects.sqlite.refusals import ChangesRefused
from storage.enums import CredentialKind
from storage.migrations.run import upgrade
from storage.retention import deletion
from storage.retention.deletion import delete_ended, find_ended
from storage.retention.rules import KEPT_FOR_GOOD, RULES, Rule
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_client_documents import OAuthClientDocumentRow
from storage.tables.credentials.oauth_grants import OAuthGrantRow
from storage.tables.credentials.signing_keys import SigningKeyRow
from storage.tables.customers.customers import CustomerSessionRow
from storage.tables.registry import METADATA
from storage.tables.workspaces.deletions import DeletionRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow
from tests.support.databases.ended_rows import Rows
from tests.support.measures.log_lines import own_log_lines

# The names of columns that say when a row ended or will end.
AN_END = re.compile(r"(expires|revoked|retired|ends|ended|(?<!last_)used)_at")
DAY = timedelta(days=1)
_grants, _credentials = table_of(OAuthGrantRow), table_of(CredentialRow)
OF_GRANTS = [rule for rule in RULES if rule.model is OAuthGrantRow]
OF_SESSIONS = [rule for rule in RULES if rule.model is CustomerSessionRow]


@pytest_asyncio.fixture
async def rows(empty):
    await upgrade(empty)
    return await Rows(empty).begin()


async def pass_by(rows, rules=RULES, at=None):
    while await delete_ended(rows.database, rules, at):
        pass


async def test_rows_of_every_kind_go_after_their_time_and_others_stay(rows):
    moment = now()
    over, kept = [], []
    for rule in RULES:
        step = timedelta(days=1) if isinstance(rule.end.type, Date) else timedelta(seconds=1)
        for is_over, age in (
            (True, step),
            (True, 3000 * DAY),
            (False, timedelta()),
            (False, -3000 * DAY),
        ):
            end = moment - rule.kept_for - age
            value = end.date() if isinstance(rule.end.type, Date) else end
            ends = {rule.ends_at: value}
            if rule.model is CredentialRow and rule.ends_at == "revoked_at":
                ends["expires_at"] = None
            key = await rows.add(rule.model, **{**rule.having, **ends})
            (over if is_over else kept).append((rule, key))
    long_ago = moment - timedelta(days=3000)
    of_others = [
        (WorkspaceMemberRow, {"user_id": rows.user, "expires_at": long_ago}),
        (OAuthClientDocumentRow, {"is_registered": True, "last_used_at": long_ago}),
        (CredentialRow, {"kind": CredentialKind.WORKSPACE_TOKEN}),
        (CredentialRow, {"kind": CredentialKind.REFRESH_TOKEN, "expires_at": long_ago}),
        (SigningKeyRow, {"retired_at": None}),
        (OAuthGrantRow, {"ends_at": None}),
    ]
    others = [(model, await rows.add(model, **values)) for model, values in of_others]
    await pass_by(rows, at=moment)
    left = {rule.model: await rows.keys(rule.model) for rule in RULES}
    assert [(rule.table.name, rule.rows, rule.ends_at) for rule, key in over if key in left[rule.model]] == []
    assert [
        (rule.table.name, rule.rows, rule.ends_at) for rule, key in kept if key not in left[rule.model]
    ] == []
    assert [model for model, key in others if key not in left[model]] == []


async def test_lists_tell_that_an_invitation_is_gone(rows):
    (id,) = await rows.add(WorkspaceMemberRow, expires_at=now() - timedelta(days=31))
    await pass_by(rows)
    assert id in {key[1] for key in await rows.keys(DeletionRow)}


def test_every_end_has_a_rule_or_a_reason():
    ends = {
        (table.name, column.name)
        for table in METADATA.sorted_tables
        for column in table.c
        if AN_END.fullmatch(column.name)
    }
    ruled = {rule.table.name for rule in RULES}
    assert {end for end in ends - KEPT_FOR_GOOD.keys() if end[0] not in ruled} == set()
    assert KEPT_FOR_GOOD.keys() <= ends


def test_every_kind_of_credential_ends_by_a_rule_or_with_its_grant():
    ruled = {rule.having["kind"] for rule in RULES if rule.model is CredentialRow}
    with_grants = {CredentialKind.REFRESH_TOKEN.value, CredentialKind.AUTHORIZATION_CODE.value}
    assert ruled | with_grants == {kind.value for kind in CredentialKind}
    assert not ruled & with_grants


async def test_every_rule_reads_an_index_in_the_order_of_the_ends(rows):
    for rule in RULES:
        plan = await plan_of(rows.database, find_ended(rule, now()))
        named = [index.name for index in rule.table.indexes if rule.ends_at in index.columns]
        assert any(name in plan for name in named), plan
        # Neither database sorts.
        assert not any(way in plan for way in ("Sort", "TEMP B-TREE")), plan


async def plan_of(database, statement):
    """The plan, whatever the values."""
    written = str(statement.compile(dialect=database.dialect))
    async with database.snapshot() as connection:
        if database.is_sqlite:
            values = (None,) * written.count("?")
            rows = (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {written}", values)).all()
            return "\n".join(row.detail for row in rows)
        # Of tables without rows, all plans cost nearly the same.
        settings = ("plan_cache_mode = force_generic_plan", "enable_seqscan = off", "enable_bitmapscan = off")
        for setting in settings:
            await connection.exec_driver_sql(f"SET LOCAL {setting}")
        await connection.exec_driver_sql(f"PREPARE ended AS {written}")
        values = ", ".join(["NULL"] * max(int(number) for number in re.findall(r"\$(\d+)", written)))
        rows = (await connection.exec_driver_sql(f"EXPLAIN EXECUTE ended({values})")).all()
        await connection.exec_driver_sql("DEALLOCATE ended")
        return "\n".join(row[0] for row in rows)


async def test_a_pass_is_bounded_and_says_that_there_is_more(rows, monkeypatch):
    monkeypatch.setattr(deletion, "ROWS_AT_A_TIME", 2)
    for _ in range(5):
        await rows.add(CustomerSessionRow, expires_at=now() - timedelta(days=8))
    left = []
    while await delete_ended(rows.database, OF_SESSIONS):
        left.append(len(await rows.keys(CustomerSessionRow)))
    assert left == [3, 1, 0]


async def test_a_grant_goes_once_all_of_its_tokens_have(rows, monkeypatch):
    monkeypatch.setattr(deletion, "ROWS_AT_A_TIME", 2)
    (id,) = await rows.add(OAuthGrantRow, ends_at=now() - timedelta(days=31))
    (living,) = await rows.add(OAuthGrantRow, ends_at=now() + timedelta(days=1))
    for grant_id in (id, id, id, living):
        await rows.add(CredentialRow, kind=CredentialKind.REFRESH_TOKEN, grant_id=grant_id)
    left = []
    while await delete_ended(rows.database, OF_GRANTS):
        left.append((len(await rows.keys(CredentialRow)), len(await rows.keys(OAuthGrantRow))))
    assert left == [(2, 2), (1, 1)]
    async with rows.database.read() as connection:
        assert (await connection.execute(select(_credentials.c.grant_id))).scalars().all() == [living]


async def test_many_processes_share_the_work(rows, monkeypatch):
    monkeypatch.setattr(deletion, "ROWS_AT_A_TIME", 7)
    for _ in range(30):
        await rows.add(OAuthGrantRow, ends_at=now() - timedelta(days=31))
        await rows.add(CustomerSessionRow, expires_at=now() - timedelta(days=8))
    kept = await rows.add(CustomerSessionRow, expires_at=now())
    await asyncio.gather(*(pass_by(rows) for _ in range(4)))
    await pass_by(rows)
    assert await rows.keys(CustomerSessionRow) == {kept}
    assert await rows.keys(OAuthGrantRow) == set()


# SQLite locks no rows: there the deletion waits for the end of the only writer.
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True, scope="session")
async def test_a_row_in_use_is_left_out(rows):
    (used,), _ = [await rows.add(OAuthGrantRow, ends_at=now() - timedelta(days=31)) for _ in range(2)]
    async with rows.database.write() as connection:
        await connection.execute(select(_grants.c.id).where(_grants.c.id == used).with_for_update())
        await pass_by(rows, OF_GRANTS)
        assert await rows.keys(OAuthGrantRow) == {(used,)}
    await pass_by(rows, OF_GRANTS)
    assert await rows.keys(OAuthGrantRow) == set()


async def test_a_rule_that_fails_keeps_no_other_from_being_followed(rows):
    broken = Rule(CustomerSessionRow, "no_such_column", DAY, "broken", "It has no such column.")
    await rows.add(OAuthGrantRow, ends_at=now() - 31 * DAY)
    with own_log_lines() as lines:
        await pass_by(rows, [broken, *OF_GRANTS])
    assert await rows.keys(OAuthGrantRow) == set()
    assert {line["table"] for line in lines} == {"customer_sessions"}


# SQLite has no limit for a statement.
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True, scope="session")
async def test_a_rule_that_always_takes_too_long_keeps_no_other_from_being_followed(rows):
    slow = await rows.add(CustomerSessionRow, expires_at=now() - 8 * DAY)
    await rows.add(OAuthGrantRow, ends_at=now() - 31 * DAY)
    async with rows.database.write() as connection:
        for statement in (
            """CREATE FUNCTION take_too_long() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'query_canceled'; END $$""",
            """CREATE TRIGGER slow BEFORE DELETE ON customer_sessions
            FOR EACH ROW EXECUTE FUNCTION take_too_long()""",
        ):
            await connection.exec_driver_sql(statement)
    with own_log_lines() as lines:
        await pass_by(rows, [*OF_SESSIONS, *OF_GRANTS])
    assert (await rows.keys(OAuthGrantRow), await rows.keys(CustomerSessionRow)) == (set(), {slow})
    assert {line["table"] for line in lines} == {"customer_sessions"}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True, scope="session")
async def test_a_database_that_is_moved_keeps_everything_and_says_why(rows):
    key = await rows.add(CustomerSessionRow, expires_at=now() - 8 * DAY)
    async with rows.database.write() as connection:
        await set_mark(connection, Mark(State.MOVING, "elsewhere"))
    with own_log_lines() as lines, pytest.raises(ChangesRefused, match="is being moved"):
        await delete_ended(rows.database, OF_SESSIONS)
    assert (lines, await rows.keys(CustomerSessionRow)) == ([], {key})
