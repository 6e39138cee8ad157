"""Migrations keep the rows that exist, and count them."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from sqlalchemy import select

from storage.migrations import run
from storage.rows.rows import table_of
from storage.tables.credentials.oauth_grants import OAuthGrantRow
from storage.tables.shares.file_share_sessions import FileSharePaymentRow
from storage.tables.workspaces.workspaces import WorkspaceRow
from tests.support.databases.ledgers import verify_totals

_grants = table_of(OAuthGrantRow)
AT = "2026-01-31 09:30:00.000000"


def new_workspace(id, at):
    """What inserts a workspace, as the oldest revision has them."""
    return (
        "INSERT INTO workspaces (created_at, id, name, name_folded, slug, socials, status, status_changed_at,"
        " details, default_presentment_currency, feature_settings, notification_settings,"
        " customer_email_settings, customer_portal_settings)"
        f" VALUES ('{at}', '{id}', 'Acme', 'acme', 'acme', '[]', 'created', '{at}',"
        " '{}', 'usd', '{}', '{}', '{}', '{}')"
    )


def insert(table, **values):
    """What inserts a row; None is NULL."""
    written = (
        "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)
        for value in values.values()
    )
    return f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join(written)})"


def new_event(workspace, timestamp, **values):
    own = {"created_at": AT, "workspace_id": workspace, "id": uuid4().hex, "timestamp": timestamp}
    metadata = '{"key":"é"}'
    return insert("events", **{**own, "source": "user", "name": "opened", "metadata": metadata, **values})


async def upgrade_with(database, statements):
    """Run the statements, and then the revisions that are left."""
    async with database.write() as connection:
        for statement in statements:
            await connection.exec_driver_sql(statement)
    await run.upgrade(database)


async def test_rows_of_the_oldest_revision_are_kept(empty):
    await run.upgrade(empty, "0012")
    workspace, parent, child = (uuid4().hex for _ in range(3))
    events = [new_event(workspace, AT, id=parent), new_event(workspace, AT, id=child, parent_id=parent)]
    await upgrade_with(empty, [new_workspace(workspace, AT), *events])
    async with empty.read() as connection:
        found = (await connection.exec_driver_sql("SELECT id, parent_id FROM events")).all()
    kept = {UUID(str(id)): parent_id and UUID(str(parent_id)) for id, parent_id in found}
    assert kept == {UUID(parent): None, UUID(child): UUID(parent)}


async def test_events_are_counted_by_day_and_hour(empty):
    await run.upgrade(empty, "0025")
    workspace = uuid4().hex
    timestamps = ["2026-01-30 23:59:59.999999", "2026-01-31 00:00:00.000000", "2026-01-31 00:59:00.000000"]
    events = [new_event(workspace, timestamp) for timestamp in timestamps]
    await upgrade_with(empty, [new_workspace(workspace, AT), *events])
    # Two days and two hours, of the name and of all; the name; the bytes. Revision 0024 has counted the list.
    assert await verify_totals(empty, UUID(workspace)) == (4 + 4 + 1 + 1, 1)


async def test_a_refunded_payment_and_a_row_of_an_older_process_have_times_of_change(empty):
    await run.upgrade(empty, "0028")
    workspace, session, paid, kept = (uuid4().hex for _ in range(4))
    created, early, late = (f"2026-01-31 {hour}:30:00.000000" for hour in ("09", "10", "11"))
    own = {"workspace_id": workspace, "created_at": created}
    of_session = {
        **own,
        "file_share_session_id": session,
        "at": created,
        "currency": "usd",
        "platform_fee": 0,
    }
    unpaid = {"changed_at": created, "amount": 9, "refunded_amount": 0, "refunded_fee": 0}
    refund = {**of_session, "amount": 1, "file_share_payment_id": paid}
    open_session = {"status": "created", "file_size_bytes": 1, "download_count": 0, "is_converted": False}
    statements = [
        new_workspace(workspace, created),
        insert("file_share_sessions", **own, id=session, changed_at=created, **open_session),
        *(insert("file_share_payments", **of_session, id=id, **unpaid) for id in (paid, kept)),
        *(
            insert("file_share_refunds", **{**refund, "id": uuid4().hex, "created_at": moment})
            for moment in (early, late)
        ),
    ]
    await upgrade_with(empty, statements)
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
    later = "2026-03-31 09:30:00.000000"
    ids = {name: uuid4().hex for name in ("user", "client", "revoked", "used", "unused")}
    user = {"email": "a@b.test", "email_folded": "a@b.test", "password_hash": "x"}
    client = {"client_id": "c", "name": "A", "redirect_uris": "[]", "scopes": "[]", "document_mode": "off"}
    client |= {"token_endpoint_auth_method": "none", "documents_version": 0}
    grant = {"created_at": AT, "oauth_client_id": ids["client"], "user_id": ids["user"], "scopes": "[]"}
    grant |= {"redirect_uri": "r", "authenticated_at": AT}
    token = {"created_at": AT, "kind": "rt", "scopes": "[]", "comment": ""}
    statements = [
        insert("users", created_at=AT, id=ids["user"], **user),
        insert("oauth_clients", created_at=AT, id=ids["client"], **client),
        *(
            insert("oauth_grants", **grant, id=ids[name], revoked_at=revoked_at)
            for name, revoked_at in (("revoked", AT), ("used", None), ("unused", None))
        ),
        *(
            insert(
                "credentials", **token, hash=end + name, id=uuid4().hex, grant_id=ids[name], expires_at=end
            )
            for name, end in (("revoked", later), ("used", AT), ("used", later))
        ),
    ]
    await upgrade_with(empty, statements)
    async with empty.read() as connection:
        found = (await connection.execute(select(_grants.c.id, _grants.c.ends_at))).all()
    ends = {row.id.hex: row.ends_at.month for row in found}
    assert ends == {ids["revoked"]: 1, ids["used"]: 3, ids["unused"]: 1}


async def test_customers_take_over_what_was_reported_under_their_external_ids(empty):
    await run.upgrade(empty, "0043")
    workspace, customer, session, of_freed, of_nobody = (uuid4().hex for _ in range(5))
    own = {"workspace_id": workspace, "created_at": AT}
    moments = {**own, "changed_at": AT}
    numbers = {"file_size_bytes": 1, "download_count": 0, "is_converted": False, "status": "created"}

    def new_session(id, person, external_id):
        values = {**moments, **numbers, "id": id, "person": person, "external_customer_id": external_id}
        return insert("file_share_sessions", **values)

    def new_report(table, session, **values):
        about = {"file_share_session_id": session, "person": 7, "at": AT}
        return insert(table, **{**own, "id": uuid4().hex, **about, **values})

    person = {"person": 5, "external_id": "late", "email": "a@example.com", "email_folded": "a@example.com"}
    rows = [
        insert(
            "customers",
            **moments,
            **person,
            id=customer,
            email_verified=False,
            billing_address="{}",
            metadata="{}",
        ),
        insert("external_persons", workspace_id=workspace, external_id="late", person=5),
        # The customer had facts of its own, so the person of the id was merged into it.
        insert("person_merges", workspace_id=workspace, absorbed=7, **{'"into"': 5}),
        new_session(session, 7, "late"),
        # Of a person who had the id before, and who was deleted with it.
        new_session(of_freed, 3, "late"),
        new_session(of_nobody, 9, "never"),
        new_report("file_share_downloads", session),
        new_report(
            "file_share_payments",
            session,
            amount=1,
            currency="usd",
            changed_at=AT,
            platform_fee=0,
            refunded_amount=0,
            refunded_fee=0,
        ),
        new_event(workspace, AT, person=7, external_customer_id="late"),
        new_event(workspace, AT, person=9, external_customer_id="never"),
    ]
    await upgrade_with(empty, [new_workspace(workspace, AT), *rows])
    async with empty.read() as connection:
        for table in (
            "external_persons",
            "file_share_sessions",
            "file_share_downloads",
            "file_share_payments",
            "events",
        ):
            found = (await connection.exec_driver_sql(f"SELECT customer_id FROM {table}")).scalars().all()
            assert [UUID(str(id)) for id in found if id is not None] == [UUID(customer)], table
        statement = f"SELECT customer_id FROM file_share_sessions WHERE id = '{session}'"
        assert (await connection.exec_driver_sql(statement)).scalar_one() is not None
