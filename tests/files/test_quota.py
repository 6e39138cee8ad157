"""What a workspace may store and have open: no plan, race or retry gets more than its quota."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from resolvers.files.clean_up import drop_abandoned_uploads
from resolvers.files.quota import set_quota, usage_of
from resolvers.operations.row_quotas import Quota
from storage.clock import now
from storage.rows.rows import table_of
from storage.tables.shares.files import FileRow
from tests.support.callers.refusals import refused
from tests.support.callers.surfaces import Refused
from tests.support.servers.gateways import run_gateway
from tests.support.tenants.uploads import new_file, upload_file

CONTENT = b"content"


@pytest.fixture
def usage(gateway, tenant):
    async def read() -> tuple[int, int]:
        async with gateway.database.read() as connection:
            row = await usage_of(connection, UUID(tenant.id), Quota())
        return row.stored_bytes, row.open_uploads

    return read


@pytest.fixture
def allow(gateway, tenant):
    async def change(**quota: int) -> None:
        async with gateway.database.write() as connection:
            await set_quota(connection, UUID(tenant.id), **quota)

    return change


def declared(size: int) -> dict[str, Any]:
    data = new_file(CONTENT)
    parts = [{"number": 1, "chunk_start": 0, "chunk_end": size}]
    return data | {"size": size, "checksum_sha256_base64": None, "upload": {"parts": parts}}


async def test_bytes_over_the_quota_cannot_be_declared(surface, allow, usage):
    await allow(storage_quota=1_000)
    await surface.create_file(data=declared(600))
    failure = await refused(surface.create_file(data=declared(401)), 422, "invalid")
    assert failure.problems == {("size",): "storage_quota"}
    assert "600 bytes" in failure.detail[0]["msg"]
    assert "1000 bytes" in failure.detail[0]["msg"]
    await surface.create_file(data=declared(400))
    assert await usage() == (1_000, 2)


async def test_uploads_over_the_quota_cannot_be_opened(surface, allow, usage):
    await allow(open_upload_quota=2)
    await upload_file(surface)
    await surface.create_file(data=new_file())
    await surface.create_file(data=new_file())
    failure = await refused(surface.create_file(data=new_file()), 422, "invalid")
    assert failure.problems == {("upload",): "open_upload_quota"}
    assert "2 open uploads of at most 2" in failure.detail[0]["msg"]
    assert await usage() == (3 * len(CONTENT), 2)


async def test_files_made_at_the_same_time_do_not_share_room(surface, allow, usage):
    await allow(storage_quota=1_000, open_upload_quota=0)
    made = await asyncio.gather(
        *(surface.create_file(data=declared(300)) for _ in range(8)), return_exceptions=True
    )
    assert len([file for file in made if isinstance(file, dict)]) == 3
    assert await usage() == (900, 3)


async def test_the_first_files_at_the_same_time_are_all_counted(surface, usage):
    await asyncio.gather(*(surface.create_file(data=declared(10)) for _ in range(5)))
    assert await usage() == (50, 5)


async def test_a_retry_takes_room_once(surface, usage):
    for _ in range(2):
        await surface.with_headers(Idempotency_Key="k").create_file(data=declared(10))
    assert await usage() == (10, 1)


async def test_a_deleted_file_gives_its_room_back(surface, usage):
    unfinished = await surface.create_file(data=declared(50))
    finished = await upload_file(surface)
    assert await usage() == (50 + len(CONTENT), 1)
    await surface.delete_file(id=finished["id"])
    assert await usage() == (50, 1)
    await surface.delete_file(id=unfinished["id"])
    assert await usage() == (0, 0)


async def test_an_abandoned_upload_gives_its_room_back(surface, gateway, tenant, usage):
    await surface.create_file(data=declared(50))
    files = table_of(FileRow)
    async with gateway.database.write() as connection:
        old = files.update().where(files.c.workspace_id == UUID(tenant.id))
        await connection.execute(old.values(created_at=now() - timedelta(days=9)))
    while await drop_abandoned_uploads(gateway.app.state.services, timedelta(days=8)):
        pass
    assert await usage() == (0, 0)


async def test_one_workspace_cannot_use_up_anothers_room(surface, caller, other_tenant, allow):
    await allow(storage_quota=1)
    with pytest.raises(Refused):
        await surface.create_file(data=declared(2))
    assert (await caller(other_tenant.token).create_file(data=declared(2)))["size"] == 2


async def test_the_settings_are_every_workspaces_quota(tmp_path):
    url = f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite"
    async for gateway in run_gateway(url, tmp_path, storage_quota=500, open_upload_quota=3):
        assert gateway.app.state.services.quota == Quota(500, 3)
