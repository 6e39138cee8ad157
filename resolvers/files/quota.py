"""Quotas: the bytes that each workspace stores and the uploads that it has open, counted with each change."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, func, or_, select, update

from resolvers.operations.context import Context
from resolvers.operations.row_quotas import Quota
from schema.errors import Invalid, problem
from schema.values.prose import write_size
from storage.dialects.upsert import upsert
from storage.engine.connections import Connection
from storage.rows.rows import table_of
from storage.tables.shares.files import FileRow, StorageUsageRow

_usage = table_of(StorageUsageRow)


async def reserve_storage(ctx: Context, workspace_id: UUID, size: int) -> None:
    """Count a file of `size` bytes and its upload. Raises `Invalid` if they exceed a quota.

    One statement compares and changes the row, so that concurrent requests cannot both use the last room.
    """
    quota = ctx.services.quota
    reservation = (
        update(_usage)
        .where(
            _usage.c.workspace_id == workspace_id,
            _fits(_usage.c.stored_bytes + size, _usage.c.storage_quota, quota.stored_bytes),
            _fits(_usage.c.open_uploads + 1, _usage.c.open_upload_quota, quota.open_uploads),
        )
        .values(stored_bytes=_usage.c.stored_bytes + size, open_uploads=_usage.c.open_uploads + 1)
    )
    if (await ctx.connection.execute(reservation)).rowcount:
        return
    await _begin(ctx.connection, workspace_id)
    # The row is locked, so that the problems describe the values that the statement compares.
    usage = await usage_of(ctx.connection, workspace_id, quota, for_update=True)
    if (await ctx.connection.execute(reservation)).rowcount:
        return
    raise Invalid(_problems(usage, size))


async def end_upload(connection: Connection, workspace_id: UUID) -> None:
    """Stop counting an upload that is complete; its bytes stay counted."""
    await _change(connection, workspace_id, 0, 1)


async def release_storage(connection: Connection, files: Iterable[FileRow]) -> None:
    """Stop counting deleted files, workspace by workspace in a fixed order."""
    totals: dict[UUID, tuple[int, int]] = {}
    for file in files:
        size, uploads = totals.get(file.workspace_id, (0, 0))
        totals[file.workspace_id] = (size + file.size, uploads + (not file.is_uploaded))
    for workspace_id, (size, uploads) in sorted(totals.items()):
        await _change(connection, workspace_id, size, uploads)


class StorageUsage(NamedTuple):
    """What a workspace stores and has open, and the quota of each; 0 for no quota."""

    stored_bytes: int
    open_uploads: int
    storage_quota: int
    open_upload_quota: int


async def usage_of(
    connection: Connection, workspace_id: UUID, quota: Quota, *, for_update: bool = False
) -> StorageUsage:
    """The workspace's usage; a quota of its own comes before the default `quota`."""
    statement = select(
        _usage.c.stored_bytes,
        _usage.c.open_uploads,
        func.coalesce(_usage.c.storage_quota, quota.stored_bytes).label("storage_quota"),
        func.coalesce(_usage.c.open_upload_quota, quota.open_uploads).label("open_upload_quota"),
    ).where(_usage.c.workspace_id == workspace_id)
    if for_update:
        statement = statement.with_for_update()
    row = (await connection.execute(statement)).first()
    return StorageUsage(0, 0, quota.stored_bytes, quota.open_uploads) if row is None else StorageUsage(*row)


async def set_quota(connection: Connection, workspace_id: UUID, **quota: int) -> None:
    """Set a workspace's own `storage_quota` or `open_upload_quota`; 0 means no limit."""
    await _begin(connection, workspace_id)
    await connection.execute(update(_usage).where(_usage.c.workspace_id == workspace_id).values(**quota))


async def set_row_quotas(connection: Connection, workspace_id: UUID, quotas: Mapping[str, int]) -> None:
    """Set a workspace's own quotas of rows by kind, where 0 means no limit; other kinds keep theirs."""
    await _begin(connection, workspace_id)
    own = _usage.c.workspace_id == workspace_id
    stored = await connection.execute(select(_usage.c.row_quotas).where(own).with_for_update())
    merged = {**(stored.scalar_one() or {}), **quotas}
    await connection.execute(update(_usage).where(own).values(row_quotas=merged))


async def _begin(connection: Connection, workspace_id: UUID) -> None:
    beginning = upsert(connection.dialect.name, _usage).values(
        workspace_id=workspace_id, stored_bytes=0, open_uploads=0
    )
    await connection.execute(beginning.on_conflict_do_nothing())


async def _change(connection: Connection, workspace_id: UUID, size: int, uploads: int) -> None:
    await connection.execute(
        update(_usage)
        .where(_usage.c.workspace_id == workspace_id)
        .values(stored_bytes=_usage.c.stored_bytes - size, open_uploads=_usage.c.open_uploads - uploads)
    )


def _fits(amount: ColumnElement[int], own: ColumnElement[Any], default: int) -> ColumnElement[bool]:
    quota = func.coalesce(own, default)
    return or_(quota == 0, amount <= quota)


def _problems(usage: StorageUsage, size: int) -> Iterable[dict[str, Any]]:
    stored, quota = usage.stored_bytes, usage.storage_quota
    uploads, most = usage.open_uploads, usage.open_upload_quota
    if quota and stored + size > quota:
        message = (
            f"The workspace stores {write_size(stored)} ({stored} bytes) of at most "
            f"{write_size(quota)} ({quota} bytes): delete files, or ask the operator for more"
        )
        yield problem(("data", "size"), message, "storage_quota", input=size)
    if most and uploads >= most:
        message = (
            f"The workspace has {uploads} open uploads of at most {most}: complete them or delete their files"
        )
        yield problem(("data", "upload"), message, "open_upload_quota")
