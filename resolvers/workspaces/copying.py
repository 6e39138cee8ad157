"""Test workspaces: copies of what a workspace sells and asks, and of its settings."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, select
from sqlmodel import SQLModel

from oauth.scopes import Scope
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.lookups import get_visible
from resolvers.operations.shapes.shaped import shaped
from resolvers.workspaces.shapes import WORKSPACE
from resolvers.workspaces.workspaces import found_workspace, get_created_workspace
from schema.errors import NotPermitted
from schema.workspaces.workspaces import Workspace, WorkspaceCopy
from storage.changes.kinds import ChangeKind
from storage.rows.rows import Model, Values, every_of, insert_rows, table_of, values_of
from storage.tables.shares.custom_fields import CustomFieldRow
from storage.tables.shares.shares import ShareCustomFieldRow, SharePriceRow, ShareRow
from storage.tables.workspaces.workspaces import WorkspaceRow
from storage.totals.kinds import bytes_of, usage_of_kind

# A copy is one transaction, and is in memory as a whole.
MOST_COPIED = 5_000
MOST_COPIED_BYTES = 8 * 1024 * 1024
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
# What each row has of its own.
_OWN = frozenset({"id", "workspace_id", "created_at", "modified_at", "changed_at"})
_NO_IDS: Mapping[UUID, UUID] = MappingProxyType({})
_prices = table_of(SharePriceRow)


@requires(
    Scope.WORKSPACES_WRITE,
    gives=get_created_workspace,
    makes_child=True,
    causes=(
        ChangeKind.WORKSPACE_MEMBER_JOINED,
        ChangeKind.CUSTOM_FIELD_CREATED,
        ChangeKind.SHARE_CREATED,
    ),
)
async def copy_workspace(ctx: Context, id: UUID, data: WorkspaceCopy) -> Workspace:
    """Makes a test workspace: a copy with the shares, current prices, custom fields and settings of another.

    The credential's user becomes its first member and owner, as of a new workspace. Files are not copied:
    shares of the copy have no media and no downloads, and it has no avatar. Customers, sales, events,
    members, tokens, OAuth clients, webhook endpoints and business details are not copied either.

    At most 5,000 rows (shares, prices, custom fields, and their places in shares) with 8 MiB of texts and
    metadata are copied, all or nothing; more are refused.
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
    await _copy_shares(ctx, id, workspace.id)
    return shaped(ctx.services, WORKSPACE, workspace)


async def _copy_shares(ctx: Context, source_id: UUID, copy_id: UUID) -> None:
    """Copy custom fields and shares with their prices, in their order."""
    reading = _Reading(ctx, source_id)
    fields = await reading.rows(CustomFieldRow, "created_at", "id")
    shares = await reading.rows(ShareRow, "created_at", "id")
    prices = await reading.rows(SharePriceRow, "created_at", "id", where=_prices.c.is_archived.is_(False))
    places = await reading.rows(ShareCustomFieldRow, "share_id", "position")
    field_ids = await _insert_named(ctx, CustomFieldRow, fields, copy_id)
    share_ids = await _insert_named(ctx, ShareRow, shares, copy_id)
    # What another change has added since the shares and the fields were read is not copied.
    of_shares = [_copied(row, copy_id, share_ids) for row in prices if row.share_id in share_ids]
    await insert_rows(ctx.connection, SharePriceRow, of_shares)
    of_fields = [
        _copied(row, copy_id, share_ids) | {"custom_field_id": field_ids[row.custom_field_id]}
        for row in places
        if row.share_id in share_ids and row.custom_field_id in field_ids
    ]
    await insert_rows(ctx.connection, ShareCustomFieldRow, of_fields)


async def _insert_named(
    ctx: Context, model: type[Model], rows: Sequence[Model], copy_id: UUID
) -> Mapping[UUID, UUID]:
    """Insert copies of rows; returns the id of each copy by that of its row."""
    copies = await insert_rows(ctx.connection, model, [_copied(row, copy_id) for row in rows])
    return {values_of(row)["id"]: values_of(new)["id"] for row, new in zip(rows, copies, strict=True)}


def _copied(row: SQLModel, copy_id: UUID, share_ids: Mapping[UUID, UUID] = _NO_IDS) -> Values:
    """The values of a row's copy, in the share that is the copy of the row's."""
    values = {name: value for name, value in values_of(row).items() if name not in _OWN}
    if "share_id" in values:
        values["share_id"] = share_ids[values["share_id"]]
    return values | {"workspace_id": copy_id}


class _Reading:
    """Reads rows of a workspace while there is room for them in a copy."""

    def __init__(self, ctx: Context, workspace_id: UUID) -> None:
        self._ctx, self._workspace_id = ctx, workspace_id
        self._room = MOST_COPIED

    async def rows(
        self, model: type[Model], *order: str, where: ColumnElement[bool] | None = None
    ) -> list[Model]:
        """The rows of the table in this order. Raises `NotPermitted` for more than there is room for."""
        table = table_of(model)
        own = select(table).where(table.c.workspace_id == self._workspace_id)
        chosen = own if where is None else own.where(where)
        ordered = chosen.order_by(*(table.c[name] for name in order)).limit(self._room + 1)
        rows = await every_of(self._ctx.connection, model, ordered)
        self._room -= len(rows)
        if self._room < 0:
            raise NotPermitted(
                f"The workspace has more than {MOST_COPIED:,} shares, prices, custom fields and places of "
                "these in shares, the limit of a copy."
            )
        return rows


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
