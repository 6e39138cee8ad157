"""What is left to do, and to answer, once a workspace has been deleted."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from resolvers.files.clean_up import remove_discarded_content
from resolvers.workspaces.removal import remove_deleted_workspaces
from storage.clock import now
from storage.objects.interface import ObjectMissing, StoreUnavailable
from storage.rows.rows import table_of
from storage.tables.shares.files import DiscardedObjectRow, FileRow
from tests.support.callers.refusals import refused
from tests.support.tenants.membership import new_slug
from tests.support.tenants.uploads import upload_file


async def test_a_retry_of_a_creation_says_that_the_workspace_is_gone(owner):
    once = owner.with_headers(idempotency_key=uuid4().hex)
    data = {"name": "Second", "slug": new_slug()}
    made = await once.create_workspace(data=data)
    assert await once.create_workspace(data=data) == made
    await owner.delete_workspace(id=made["id"])
    await refused(once.create_workspace(data=data), 404, "not_found")


async def test_content_that_its_store_does_not_remove_now_is_removed_later(
    surface, gateway, tenant, owner, monkeypatch
):
    services, workspace_id = gateway.app.state.services, UUID(tenant.id)
    files = [await upload_file(surface) for _ in range(2)]

    async def rows_of(model):
        table = table_of(model)
        async with gateway.database.read() as connection:
            wanted = select(table.c.id).where(table.c.workspace_id == workspace_id)
            return {str(id) for id in (await connection.execute(wanted)).scalars()}

    # The stores of the tests fail for all tests at once, or not at all.
    async def fail(_):
        raise StoreUnavailable("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(services.objects, "delete", fail)
        await owner.delete_workspace(id=tenant.id)
        while await rows_of(FileRow):
            await remove_deleted_workspaces(services)
        left = {file["id"] for file in files}
        assert await rows_of(DiscardedObjectRow) == left
        # A later attempt that fails, too, forgets nothing.
        assert await remove_discarded_content(services, now() + timedelta(seconds=1)) is False
        assert await rows_of(DiscardedObjectRow) == left
    # Rows of other tests may come first. Each round that says there is more has removed a hundred.
    while await remove_discarded_content(services, now() + timedelta(seconds=1)):
        pass
    assert await rows_of(DiscardedObjectRow) == set()
    for file in files:
        with pytest.raises(ObjectMissing):
            await services.objects.open_object(file["path"])
