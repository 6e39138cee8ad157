"""Migrations: an empty database gets the schema that the tables declare, on both engines."""

import json
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from alembic.autogenerate import compare_metadata
from alembic.operations import Operations
from alembic.operations.ops import AddColumnOp, DowngradeOps, MigrationScript, ModifyTableOps, UpgradeOps
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Boolean, Column, Integer, MetaData, String, Table, column, select
from sqlalchemy.exc import DBAPIError

from oauth.scopes import USER_SCOPES, Scope
from storage.emails import fold_email
from storage.migrations import run
from storage.migrations.revise import RevisionRefused, complete
from storage.migrations.revisions import current_revision, is_known, newest_revision, next_revision
from storage.rows.rows import table_of
from storage.searching.texts import is_declared
from storage.tables.accounts.users import UserRow
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_clients import OAuthClientRow
from storage.tables.registry import METADATA
from storage.tables.workspaces.workspaces import WorkspaceMemberRow
from tests.support.measures.spans import span

REVISIONS = [
    script.revision for script in ScriptDirectory(run.__file__.removesuffix("/run.py")).walk_revisions()
]

_users = table_of(UserRow)
# Which Alembic does not compare.
SQLITE_TABLES_BY_KEY = "SELECT name FROM sqlite_master WHERE sql LIKE '% WITHOUT ROWID%'"


def differences(connection):
    context = MigrationContext.configure(
        connection, opts={"include_name": is_declared, "compare_type": True, "render_as_batch": True}
    )
    return compare_metadata(context, METADATA)


def test_each_file_is_named_for_its_revision():
    assert all(map(is_known, REVISIONS))
    assert newest_revision() == REVISIONS[0]  # The head, from which Alembic walks down.
    assert not is_known("9999")


def test_a_new_revision_follows_the_newest_whatever_numbers_are_missing():
    assert int(next_revision()) == int(newest_revision()) + 1
    assert len(REVISIONS) < int(newest_revision())


async def test_the_newest_revision_is_what_the_tables_say(empty):
    await run.upgrade(empty)
    assert await current_revision(empty) == newest_revision()
    async with empty.engine.connect() as connection:
        assert await connection.run_sync(differences) == []
        if empty.is_sqlite:
            made = await connection.exec_driver_sql(SQLITE_TABLES_BY_KEY)
            assert {name for (name,) in made if is_declared(name, "table", None)} == {
                table.name
                for table in METADATA.sorted_tables
                if not table.dialect_options["sqlite"]["with_rowid"]
            }


async def test_a_revision_that_fails_by_itself_is_told_and_not_tried_again(empty):
    async with empty.write() as connection:
        await connection.exec_driver_sql("CREATE TABLE users (id int)")
    with pytest.raises(DBAPIError, match=r"users.* already exists"):
        await run.upgrade(empty)
    assert await current_revision(empty) is None


@pytest.mark.long
async def test_every_earlier_revision_leads_to_the_newest(empty):
    """Each revision begins with what the one before it left, as in a database of that age."""
    for revision in reversed(REVISIONS):
        await run.upgrade(empty, revision)
        assert await current_revision(empty) == revision
    assert await current_revision(empty) == newest_revision()


async def test_secrets_sealed_under_equal_nonces_are_forgotten_and_their_keys_are_not(empty):
    await run.upgrade(empty, "0012")
    rows = {"sealed": "c2VhbGVkIHVuZGVyIGEgbm9uY2Ugb2YgemVyb3M=", "counted": None}
    insert = "INSERT INTO idempotency_keys (created_at, subject, operation, key, digest, sealed) VALUES "
    async with empty.write() as connection:
        for key, sealed in rows.items():
            value = "NULL" if sealed is None else f"'{sealed}'"
            await connection.exec_driver_sql(
                f"{insert} ('2026-11-22 09:30:00.000000', 'a subject', 'an operation', '{key}', 'x', {value})"
            )
    await run.upgrade(empty)
    async with empty.read() as connection:
        found = (await connection.exec_driver_sql("SELECT key, sealed FROM idempotency_keys")).all()
    assert dict(map(tuple, found)) == {"sealed": "", "counted": None}


async def test_addresses_are_folded_again_and_no_row_is_lost(empty):
    """Of two rows with the same address, the one in use keeps it; the other keeps everything else."""
    await run.upgrade(empty, "0013")
    proved, plain = "2026-01-31 09:30:00.000000", "NULL"
    emails = {
        "weiß@firm.test": ("weiss@firm.test", proved),
        "jose\u0301@firm.test": ("jose\u0301@firm.test", plain),
        "jos\u00e9@firm.test": ("jos\u00e9@firm.test", proved),
        "ada@xn--mnchen-3ya.test": ("ada@xn--mnchen-3ya.test", plain),
        "ada@m\u00fcnchen.test": ("ada@m\u00fcnchen.test", proved),
        "eve@stra\u00dfe.test": ("eve@strasse.test", proved),
        "Bob@firm.test": ("bob@firm.test", proved),
    }
    async with empty.write() as connection:
        for email, (folded, moment) in emails.items():
            verified_at = moment if moment == plain else f"'{moment}'"
            await connection.exec_driver_sql(
                "INSERT INTO users (created_at, id, email, email_folded, email_verified_at, password_hash)"
                f" VALUES ('{proved}', '{uuid4().hex}', '{email}', '{folded}', {verified_at}, 'x')"
            )
    await run.upgrade(empty)
    async with empty.read() as connection:
        wanted = select(_users.c.id, _users.c.email, _users.c.email_folded, _users.c.email_verified_at)
        rows = (await connection.execute(wanted)).all()
    set_aside = {row.email for row in rows if row.email_folded == f"{fold_email(row.email)} {row.id}"}
    folded = [row.email_folded for row in rows if row.email_folded == fold_email(row.email)]
    assert (len(rows), len(folded), set_aside) == (7, 5, {"jos\u00e9@firm.test", "ada@xn--mnchen-3ya.test"})
    assert {row.email for row in rows if row.email_verified_at} == {
        "weiß@firm.test",
        "jos\u00e9@firm.test",
        "ada@m\u00fcnchen.test",
        "Bob@firm.test",
    }


async def test_members_become_owners_and_invitations_get_a_week(empty):
    await run.upgrade(empty, "0021")
    at, workspace, founder, member, invited = "2026-01-31 09:30:00.000000", *(uuid4().hex for _ in range(4))
    everything = sorted(USER_SCOPES - {Scope.WORKSPACE_MEMBERS_WRITE})
    narrow = ["workspaces:write"]
    row = f"'{at}', '{workspace}'"
    statements = [
        "INSERT INTO workspaces (created_at, id, name, name_folded, slug, socials, status, status_changed_at,"
        " details, default_presentment_currency, feature_settings, notification_settings,"
        " customer_email_settings, customer_portal_settings)"
        f" VALUES ({row}, 'Acme', 'acme', 'acme', '[]', 'created', '{at}', '{{}}', 'usd', '{{}}', '{{}}',"
        " '{}', '{}')",
        *(
            "INSERT INTO users (created_at, id, email, email_folded, password_hash)"
            f" VALUES ('{at}', '{id}', '{id}@example.com', '{id}@example.com', 'x')"
            for id in (founder, member)
        ),
        *(
            "INSERT INTO workspace_members (created_at, workspace_id, id, user_id, email, email_folded)"
            f" VALUES ({row}, '{uuid4().hex}', {user}, '{name}', '{name}')"
            for name, user in (("f", f"'{founder}'"), ("m", f"'{member}'"), (invited, "NULL"))
        ),
        *(
            "INSERT INTO credentials (created_at, hash, id, kind, user_id, scopes, comment)"
            f" VALUES ('{at}', '{name}', '{uuid4().hex}', 'pat', '{founder}', '{json.dumps(scopes)}', '')"
            for name, scopes in (("everything", everything), ("narrow", narrow))
        ),
        "INSERT INTO oauth_clients (created_at, id, client_id, user_id, name, redirect_uris, scopes,"
        " token_endpoint_auth_method)"
        f" VALUES ('{at}', '{uuid4().hex}', 'c', '{member}', 'A', '[]', '[]', 'none')",
    ]
    async with empty.write() as connection:
        for statement in statements:
            await connection.exec_driver_sql(statement)
    with span() as upgrading:
        await run.upgrade(empty)
    members, credentials = table_of(WorkspaceMemberRow), table_of(CredentialRow)
    async with empty.read() as connection:
        rows = {row.email: row for row in (await connection.execute(select(members))).all()}
        tokens = select(credentials.c.hash, credentials.c.scopes)
        scopes = {row.hash: row.scopes for row in (await connection.execute(tokens)).all()}
        maker = (await connection.execute(select(table_of(OAuthClientRow).c.maker_user_id))).scalar_one()
    for name in ("f", "m"):
        assert (rows[name].role, rows[name].joined_at, rows[name].expires_at) == (
            "owner",
            rows[name].created_at,
            None,
        )
    assert (rows[invited].role, rows[invited].joined_at, rows[invited].user_id) == ("member", None, None)
    assert rows[invited].expires_at in upgrading + timedelta(days=7)
    # A token that may do everything goes on doing so, another one gets no scope that it did not have.
    assert scopes == {"everything": sorted(USER_SCOPES), "narrow": narrow}
    assert maker == UUID(member)


def revision_that_adds(*columns):
    """What Alembic is about to write for new columns of one table."""
    added = ModifyTableOps("shares", [AddColumnOp("shares", column) for column in columns])
    return MigrationScript("0099", UpgradeOps([added] if columns else []), DowngradeOps())


@pytest.mark.parametrize(
    ("type_", "default", "sql"), [(Integer, 0, "0"), (String, "a", "a"), (Boolean, False, "false")]
)
async def test_existing_rows_get_the_default_of_a_new_column(empty, type_, default, sql):
    new = Column("new", type_(), nullable=False, default=default)
    complete(None, None, [revision_that_adds(new)])
    assert str(new.server_default.arg) == sql
    rows = Table("rows", MetaData(), Column("id", Integer(), primary_key=True))
    async with empty.write() as connection:
        await connection.run_sync(rows.create)
        await connection.execute(rows.insert().values(id=1))
        await connection.run_sync(
            lambda sync: Operations(MigrationContext.configure(sync)).add_column("rows", new)
        )
        added = select(column("new", type_())).select_from(rows)
        assert (await connection.execute(added)).scalar_one() == default


def test_a_column_that_existing_rows_cannot_have_is_refused():
    column = Column("new", Integer(), nullable=False)
    with pytest.raises(RevisionRefused, match="new of shares is not null and has no constant default"):
        complete(None, None, [revision_that_adds(column)])


def test_a_revision_without_a_change_is_refused():
    with pytest.raises(RevisionRefused, match="nothing to write"):
        complete(None, None, [revision_that_adds()])
