"""Test workspaces: copies of what a workspace sells and asks, and of its settings."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

from oauth.scopes import Scope
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.lookups import get_visible
from resolvers.operations.shapes.shaped import shaped
from resolvers.workspaces.copied_history import History, insert_history, read_history
from resolvers.workspaces.copied_rows import Copies, Reading
from resolvers.workspaces.shapes import WORKSPACE
from resolvers.workspaces.workspaces import found_workspace, get_created_workspace
from schema.errors import NotPermitted
from schema.workspaces.workspaces import Workspace, WorkspaceCopy
from storage.changes.kinds import ChangeKind
from storage.engine.connections import Connection
from storage.rows.rows import table_of
from storage.tables.shares.custom_fields import CustomFieldRow
from storage.tables.shares.shares import ShareCustomFieldRow, SharePriceRow, ShareRow
from storage.tables.workspaces.workspaces import WorkspaceRow
from storage.totals.kinds import bytes_of, usage_of_kind

# A copy is one transaction, and is in memory as a whole.
MOST_COPIED = 5_000
MOST_COPIED_BYTES = 8 * 1024 * 1024
_KINDS = "shares, prices, custom fields and places of these in shares"
_MEASURED = ("shares", "custom_fields")
_LONGEST_NAME, _LONGEST_SLUG = 256, 128
# The picture is a file of the first workspace, the details and the review are about a real business.
_SETTINGS = (
    "email",
    "website",
    "socials",
    "default_presentment_currency",
    "feature_settings",
    "notification_settings",
    "customer_email_settings",
    "customer_portal_settings",
    "return_url_schemes",
    "timezone",
    "language",
)
_prices = table_of(SharePriceRow)


@asynccontextmanager
async def read_for_copy(ctx: Context, id: UUID, data: WorkspaceCopy) -> AsyncIterator[History | None]:
    """The customers and the history that a copy takes over, read before its transaction begins."""
    if not (data.include_customers or data.include_history):
        yield None
        return
    await get_visible(ctx, WorkspaceRow, id=id)
    async with ctx.snapshot() as connection:
        history = await read_history(connection, id, is_whole=data.include_history)
    yield history


@requires(
    Scope.WORKSPACES_WRITE,
    gives=get_created_workspace,
    makes_child=True,
    prepare=read_for_copy,
    causes=(
        ChangeKind.WORKSPACE_MEMBER_JOINED,
        ChangeKind.CUSTOM_FIELD_CREATED,
        ChangeKind.SHARE_CREATED,
        ChangeKind.CUSTOMER_CREATED,
        ChangeKind.MEMBER_CREATED,
        ChangeKind.FILE_SHARE_SESSIONS_INGESTED,
        ChangeKind.EVENTS_INGESTED,
    ),
)
async def copy_workspace(ctx: Context, id: UUID, data: WorkspaceCopy) -> Workspace:
    """Makes a test workspace: a copy with the shares, current prices, custom fields and settings of another.

    The credential's user becomes its first member and owner, as of a new workspace. Files are not copied:
    shares of the copy have no media and no downloads, and it has no avatar. Members, tokens, OAuth clients,
    webhook endpoints and business details are not copied either.

    Customers are copied if asked, with sessions, downloads, payments, refunds and events at their times, so
    that all metrics are the same. Emails and names are made up (`customer-1@example.invalid`, `Customer 1`);
    external ids, addresses, metadata of customers and events are left out.

    At most 5,000 rows (shares, prices, custom fields, and their places in shares) with 8 MiB of texts and
    metadata are copied, and 10,000 of customers and history, all or nothing; more are refused.
    """
    source = await get_visible(ctx, WorkspaceRow, id=id)
    await _check_size(ctx, id)
    workspace = await found_workspace(
        ctx,
        slug=data.slug or _test_slug(source.slug),
        name=data.name or f"{source.name[: _LONGEST_NAME - 7]} (test)",
        is_test=True,
        **{name: getattr(source, name) for name in _SETTINGS},
    )
    copies = Copies(workspace.id)
    await _copy_shares(ctx.connection, id, copies)
    if ctx.prepared is not None:
        await insert_history(ctx.connection, copies, ctx.prepared)
    return shaped(ctx.services, WORKSPACE, workspace)


async def _copy_shares(connection: Connection, source_id: UUID, copies: Copies) -> None:
    """Copy custom fields and shares with their prices, in their order."""
    reading = Reading(connection, source_id, MOST_COPIED, _KINDS)
    fields = await reading.rows(CustomFieldRow, "created_at", "id")
    shares = await reading.rows(ShareRow, "created_at", "id")
    prices = await reading.rows(SharePriceRow, "created_at", "id", where=_prices.c.is_archived.is_(False))
    places = await reading.rows(ShareCustomFieldRow, "share_id", "position")
    await copies.insert(connection, CustomFieldRow, fields)
    await copies.insert(connection, ShareRow, shares)
    # What another change has added since the shares and the fields were read is not copied.
    of_shares = [row for row in prices if row.share_id in copies.ids]
    await copies.insert(connection, SharePriceRow, of_shares)
    of_fields = [row for row in places if {row.share_id, row.custom_field_id} <= copies.ids.keys()]
    await copies.insert(connection, ShareCustomFieldRow, of_fields)


async def _check_size(ctx: Context, workspace_id: UUID) -> None:
    """Raises `NotPermitted` for more texts than a copy may have."""
    sizes = [await usage_of_kind(ctx.connection, workspace_id, bytes_of(kind)) for kind in _MEASURED]
    used = sum(size for size, _ in sizes)
    if used > MOST_COPIED_BYTES:
        raise NotPermitted(
            f"The texts and metadata of the workspace's shares and custom fields have {used:,} bytes, "
            f"and {MOST_COPIED_BYTES:,} is the limit of a copy."
        )


def _test_slug(slug: str) -> str:
    """A slug that no workspace has had: those of deleted ones are not given out again."""
    suffix = f"-test-{uuid4().hex[:8]}"
    return slug[: _LONGEST_SLUG - len(suffix)].rstrip("-") + suffix
