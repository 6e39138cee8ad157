"""The feed of changes."""

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from uuid import UUID

from oauth.scopes import that_would_do
from resolvers.changes.names import read_names
from resolvers.changes.readable import SCOPES, read_resources, readable_kinds, scope_of
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.live import read_once
from resolvers.operations.rows.lookups import check_workspaces
from schema.changes.changes import (
    Change,
    ChangeActor,
    ChangePage,
    ChangePageMeta,
    ChangeQuery,
    LatestChange,
    LatestChangeQuery,
    ResourceData,
    write_position,
)
from schema.errors import Gone, InsufficientScope, Invalid, problem
from storage.changes.kinds import ChangeKind
from storage.changes.numbering import number_waiting
from storage.changes.reading import Extent, Logged, LogPage, read_extent, read_log
from storage.dialects.sqlite.refusals import ChangesRefused
from storage.engine.connections import Connection
from storage.enums import ActorKind


@requires(None, any_of=SCOPES)
async def get_changes(ctx: Context, filters: ChangeQuery) -> ChangePage:
    """Lists the changes of a workspace after a position, in their order: ask again with `next_cursor`.

    The feed has the kinds whose resource the credential's scopes can read. Changes are kept for 30 days,
    unless the operator has set another time; an `after` that is older is refused with `gone` (410).
    """
    asked = list(ChangeKind) if filters.kind is None else filters.kind
    kinds = readable_kinds(ctx.principal, asked)
    if not kinds:
        raise InsufficientScope(that_would_do(scope_of(asked[0])) if asked else SCOPES)
    workspace_id = await workspace_of(ctx, filters)

    async def read(connection: Connection) -> LogPage:
        extent = await read_extent(connection, workspace_id)
        after = extent.oldest - 1 if filters.after is None else int(filters.after)
        check_follows(extent, after)
        return await read_log(
            connection,
            workspace_id,
            extent,
            after=after,
            kinds=kinds,
            resource_id=filters.resource_id,
            limit=filters.limit,
        )

    async def read_numbered() -> LogPage:
        await number(ctx, workspace_id)
        return await ctx.in_snapshot(read)

    asked_for = filters.after, tuple(kinds), filters.resource_id, filters.limit
    page = await read_once(ctx, ("log", workspace_id, *asked_for), read_numbered)
    data = await _written(ctx, workspace_id, page.changes)
    meta = ChangePageMeta(next_cursor=write_position(page.end), has_more=page.has_more)
    return ChangePage(data=data, meta=meta)


@requires(None, any_of=SCOPES)
async def get_latest_change(ctx: Context, filters: LatestChangeQuery) -> LatestChange:
    """Returns the position of the newest change of a workspace: what follows it is still to be made."""
    workspace_id = await workspace_of(ctx, filters)
    await number(ctx, workspace_id)
    async with ctx.read() as connection:
        extent = await read_extent(connection, workspace_id)
    return LatestChange(position=write_position(extent.newest))


def check_follows(extent: Extent, after: int) -> None:
    """Raises `Gone` if changes after this position are no longer kept."""
    if not extent.follows(after):
        raise Gone(
            "The changes after this position are no longer kept. Read the lists again, then go on with "
            f"`after={write_position(extent.newest)}`."
        )


async def workspace_of(ctx: Context, filters: LatestChangeQuery) -> UUID:
    """The workspace that is read. Raises `NotFound`, or `Invalid` if there is no default."""
    if filters.workspace_id is not None:
        key = "workspace", filters.workspace_id, *ctx.principal.ids.items()
        await read_once(ctx, key, partial(check_workspaces, ctx, [filters.workspace_id]))
        return filters.workspace_id
    if len(ctx.principal.all_workspace_ids) == 1:
        return ctx.principal.all_workspace_ids[0]
    message = "Send `workspace_id`: this credential has access to several workspaces, or to none"
    raise Invalid([problem(("filters", "workspace_id"), message, "missing")])


async def number(ctx: Context, workspace_id: UUID) -> None:
    """Give what was just committed its positions, so that a caller finds its own changes at once."""
    if not ctx.services.database.is_sqlite:
        await ctx.go_apart()
        # A database that is being moved takes no changes, and has none to number.
        with suppress(ChangesRefused):
            async with ctx.caller.turn():
                await number_waiting(ctx.services.database, workspace_id)


async def _written(ctx: Context, workspace_id: UUID, changes: list[Logged]) -> list[Change]:
    data: dict[UUID, ResourceData] = {}
    if ctx.wants("data.data"):
        data = await read_resources(ctx, workspace_id, _ids(changes))
    names: dict[UUID, str | None] = {}
    if ctx.wants("data.actor.name"):
        names = await read_names(ctx, workspace_id, changes)
    return [_change_of(workspace_id, change, data, names) for change in changes]


def _ids(changes: Iterable[Logged]) -> dict[str, set[UUID]]:
    """The ids of the resources, by resource."""
    ids: defaultdict[str, set[UUID]] = defaultdict(set)
    for change in changes:
        if change.resource_id is not None:
            ids[ChangeKind(change.kind).resource].add(change.resource_id)
    return ids


def _change_of(
    workspace_id: UUID,
    change: Logged,
    data: dict[UUID, ResourceData],
    names: dict[UUID, str | None],
) -> Change:
    kind = ChangeKind(change.kind)
    batch = None if change.items is None else ResourceData({"count": change.items})
    return Change.made(
        id=change.id,
        position=write_position(change.position),
        kind=kind,
        resource=kind.resource,
        resource_id=change.resource_id,
        workspace_id=workspace_id,
        at=change.at,
        actor=ChangeActor.made(
            kind=ActorKind(change.actor_kind),
            id=change.actor_id,
            name=None if change.actor_id is None else names.get(change.actor_id),
        ),
        data=batch if change.resource_id is None else data.get(change.resource_id),
    )
