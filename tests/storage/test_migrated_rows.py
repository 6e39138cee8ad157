"""Migrations keep the rows that exist, and count them."""

from uuid import UUID, uuid4

from storage.migrations import run
from storage.totals.verify import verify_totals


def new_workspace(id, at):
    """What inserts a workspace, as the first revision has them."""
    return (
        "INSERT INTO workspaces (created_at, id, name, name_folded, slug, socials, status, status_changed_at,"
        " details, default_presentment_currency, feature_settings, notification_settings,"
        " customer_email_settings, customer_portal_settings)"
        f" VALUES ('{at}', '{id}', 'Acme', 'acme', 'acme', '[]', 'created', '{at}',"
        " '{}', 'usd', '{}', '{}', '{}', '{}')"
    )


async def test_rows_of_the_first_revision_are_kept(empty):
    await run.upgrade(empty, "0001")
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
