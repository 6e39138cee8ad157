"""Migrations keep the rows that exist, and count them."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from sqlalchemy import select

from storage.migrations import run
from storage.rows.rows import table_of
from storage.tables.credentials.oauth_grants import OAuthGrantRow
from storage.tables.shares.file_share_sessions import FileSharePaymentRow
from storage.tables.workspaces.workspaces import WorkspaceRow
from storage.totals.verify import verify_totals

_grants = table_of(OAuthGrantRow)


def new_workspace(id, at):
    """What inserts a workspace, as the oldest revision has them."""
    return (
        "INSERT INTO workspaces (created_at, id, name, name_folded, slug, socials, status, status_changed_at,"
        " details, default_presentment_currency, feature_settings, notification_settings,"
        " customer_email_settings, customer_portal_settings)"
        f" VALUES ('{at}', '{id}', 'Acme', 'acme', 'acme', '[]', 'created', '{at}',"
        " '{}', 'usd', '{}', '{}', '{}', '{}')"
    )


async def test_rows_of_the_oldest_revision_are_kept(empty):
    await run.upgrade(empty, "0012")
    at, workspace, parent, child = "2026-01-31 09:30:00.000000", uuid4().hex, uuid4().hex, uuid4().hex
    statements = [new_workspace(workspace, at)]
    for id, parent_id in ((parent, "NULL"), (child, f"'{parent}'")):
        statements.append(
            "INSERT INTO events (created_at, workspace_id, id, timestamp, source, name, metadata, parent_id)"
            f" VALUES ('{at}', '{workspace}', '{id}', '{at}', 'user', 'opened', '{{}}', {parent_id})"
        )
    async with empty.write() as connection:
        for statement in statements:
            await connection.exec_driver_sql(statement)
    await run.upgrade(empty)
    async with empty.read() as connection:
        found = (await connection.exec_driver_sql("SELECT id, parent_id FROM events")).all()
    kept = {UUID(str(id)): parent_id and UUID(str(parent_id)) for id, parent_id in found}
    assert kept == {UUID(parent): None, UUID(child): UUID(parent)}


async def test_events_are_counted_by_day_and_hour(empty):
    await run.upgrade(empty, "0025")
    created, workspace = "2026-01-31 09:30:00.000000", uuid4().hex
    timestamps = ["2026-01-30 23:59:59.999999", "2026-01-31 00:00:00.000000", "2026-01-31 00:59:00.000000"]
    statements = [
        new_workspace(workspace, created),
        *(
            "INSERT INTO events (created_at, workspace_id, id, timestamp, source, name, metadata)"
            f" VALUES ('{created}', '{workspace}', '{uuid4().hex}', '{timestamp}', 'user', 'opened', '{{}}')"
            for timestamp in timestamps
        ),
    ]
    async with empty.write() as connection:
        for statement in statements:
            await connection.exec_driver_sql(statement)
    await run.upgrade(empty)
    # Two days and two hours, of the name and of all; and the name. Revision 0024 has counted the list before.
    assert await verify_totals(empty, UUID(workspace)) == (4 + 4 + 1, 1)


async def test_a_refunded_payment_and_a_row_of_an_older_process_have_times_of_change(empty):
    await run.upgrade(empty, "0028")
    workspace, session, paid, kept = (uuid4().hex for _ in range(4))
    created, early, late = (f"2026-01-31 {hour}:30:00.000000" for hour in ("09", "10", "11"))
    own = f"'{workspace}', '{session}'"
    columns = "workspace_id, file_share_session_id, created_at, id, at"
    statements = [
        new_workspace(workspace, created),
        "INSERT INTO file_share_sessions (workspace_id, id, created_at, changed_at, status, file_size_bytes,"
        f" download_count, is_converted) VALUES ({own}, '{created}', '{created}', 'created', 1, 0, TRUE)",
        *(
            f"INSERT INTO file_share_payments ({columns}, changed_at, amount, platform_fee, currency,"
            f" refunded_amount, refunded_fee)"
            f" VALUES ({own}, '{created}', '{id}', '{created}', '{created}', 9, 0, 'usd', 0, 0)"
            for id in (paid, kept)
        ),
        *(
            f"INSERT INTO file_share_refunds ({columns}, amount, platform_fee, currency,"
            f" file_share_payment_id)"
            f" VALUES ({own}, '{moment}', '{uuid4().hex}', '{created}', 1, 0, 'usd', '{paid}')"
            for moment in (early, late)
        ),
    ]
    async with empty.write() as connection:
        for statement in statements:
            await connection.exec_driver_sql(statement)
    await run.upgrade(empty)
    async with empty.write() as connection:
        await connection.exec_driver_sql(new_workspace(uuid4().hex, created).replace("'acme'", "'other'"))
    async with empty.read() as connection:
        payments = table_of(FileSharePaymentRow).c
        wanted = select(payments.id, payments.modified_at, payments.changed_at)
        found = {row.id: (row.modified_at, row.changed_at) for row in await connection.execute(wanted)}
        workspaces = table_of(WorkspaceRow).c
        wanted = select(workspaces.slug, workspaces.created_at, workspaces.changed_at)
        times = {row.slug: (row.created_at, row.changed_at) for row in await connection.execute(wanted)}
    created, late = (datetime.fromisoformat(moment).replace(tzinfo=UTC) for moment in (created, late))
    assert found == {UUID(paid): (late, late), UUID(kept): (None, created)}
    assert times["acme"] == (created, created)
    if not empty.is_sqlite:
        assert times["other"][1] > created


async def test_the_migration_gives_grants_their_end(empty):
    await run.upgrade(empty, "0033")
    at, later = "2026-01-31 09:30:00.000000", "2026-03-31 09:30:00.000000"
    ids = {name: uuid4().hex for name in ("user", "client", "revoked", "used", "unused")}
    statements = [
        "INSERT INTO users (created_at, id, email, email_folded, password_hash)"
        f" VALUES ('{at}', '{ids['user']}', 'a@b.test', 'a@b.test', 'x')",
        "INSERT INTO oauth_clients (created_at, id, client_id, name, redirect_uris, scopes,"
        " token_endpoint_auth_method, document_mode, documents_version)"
        f" VALUES ('{at}', '{ids['client']}', 'c', 'A', '[]', '[]', 'none', 'off', 0)",
    ]
    for name, revoked_at in (("revoked", f"'{at}'"), ("used", "NULL"), ("unused", "NULL")):
        statements.append(
            "INSERT INTO oauth_grants (created_at, id, oauth_client_id, user_id, scopes, redirect_uri,"
            f" authenticated_at, revoked_at) VALUES ('{at}', '{ids[name]}', '{ids['client']}',"
            f" '{ids['user']}', '[]', 'r', '{at}', {revoked_at})"
        )
    for number, (name, end) in enumerate((("revoked", later), ("used", at), ("used", later))):
        statements.append(
            "INSERT INTO credentials (created_at, hash, id, kind, grant_id, scopes, comment, expires_at)"
            f" VALUES ('{at}', '{number}', '{uuid4().hex}', 'rt', '{ids[name]}', '[]', '', '{end}')"
        )
    async with empty.write() as connection:
        for statement in statements:
            await connection.exec_driver_sql(statement)
    await run.upgrade(empty)
    async with empty.read() as connection:
        found = (await connection.execute(select(_grants.c.id, _grants.c.ends_at))).all()
    ends = {row.id.hex: row.ends_at.month for row in found}
    assert ends == {ids["revoked"]: 1, ids["used"]: 3, ids["unused"]: 1}
