"""Operations on webhook endpoints."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import func, select

from oauth.principals import Principal, PrincipalKind
from oauth.scopes import Scope, covers
from resolvers.changes.readable import SCOPES, scope_of
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.reach import check_reach
from resolvers.operations.rows.filters import any_of
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import check_workspaces, get_for_update, workspace_for
from resolvers.operations.rows.reading import read_one, read_page
from resolvers.operations.shapes.shaped import as_model, shaped
from resolvers.webhooks.health import skip_pending
from resolvers.webhooks.makers import ALL, told_kinds
from resolvers.webhooks.redelivery import wake_after
from resolvers.webhooks.secrets import add_secret, delete_secrets
from resolvers.webhooks.shapes import WEBHOOK_ENDPOINT
from schema.errors import Invalid, NotPermitted, problem
from schema.kit.pages import Page
from schema.kit.sorting import CreatedAtSorting
from schema.values.endpoints import is_plain
from schema.webhooks.endpoints import (
    WebhookEndpoint,
    WebhookEndpointCreate,
    WebhookEndpointCreated,
    WebhookEndpointQuery,
    WebhookEndpointUpdate,
)
from storage.changes.kinds import ChangeKind
from storage.changes.numbering import newest_position
from storage.rows.rows import delete_row, insert_row, table_of, update_row
from storage.tables.webhooks.endpoints import WebhookEndpointRow
from storage.tables.workspaces.workspaces import WorkspaceRow

MOST_ENDPOINTS = 20
_MANAGED = "so it cannot manage an endpoint that does"

_table, _workspaces = table_of(WebhookEndpointRow), table_of(WorkspaceRow)
LISTING = Listing(
    WebhookEndpointRow,
    CreatedAtSorting,
    default="created_at",
    query=WebhookEndpointQuery,
    filters={"workspace_id": any_of(_table.c.workspace_id)},
)


@requires(Scope.WEBHOOKS_READ)
async def list_webhook_endpoints(ctx: Context, filters: WebhookEndpointQuery) -> Page[WebhookEndpoint]:
    """Lists webhook endpoints, oldest first unless sorted otherwise."""
    await check_workspaces(ctx, filters.workspace_id)
    return await read_page(ctx, LISTING, WEBHOOK_ENDPOINT, filters)


@requires(Scope.WEBHOOKS_READ)
async def get_webhook_endpoint(ctx: Context, id: UUID) -> WebhookEndpoint:
    """Returns a webhook endpoint."""
    return await read_one(ctx, WebhookEndpointRow, WEBHOOK_ENDPOINT, id=id)


@requires(Scope.WEBHOOKS_WRITE, seals=True, fresh=True, causes=())
async def create_webhook_endpoint(ctx: Context, data: WebhookEndpointCreate) -> WebhookEndpointCreated:
    """Creates a webhook endpoint. Its secret is shown only once.

    The endpoint may be told what the credential that creates it can read, and a workspace may have 20.
    """
    workspace_id = await workspace_for(ctx, data.workspace_id)
    _check_url(ctx, data.url)
    _check_kinds(ctx.principal, data.kinds)
    scopes = sorted(scope for scope in SCOPES if covers(ctx.principal.scopes, scope))
    _check_document(ctx, data.document, scopes)
    await _check_room(ctx, workspace_id)
    row = await insert_row(
        ctx.connection,
        WebhookEndpointRow,
        workspace_id=workspace_id,
        **data.model_dump(exclude={"workspace_id"}),
        scopes=scopes,
        **_maker(ctx.principal),
        position=await newest_position(ctx.connection, workspace_id),
    )
    secret = await add_secret(ctx.connection, ctx.services.secret_key, row)
    wake_after(ctx)
    return WebhookEndpointCreated(secret=secret, webhook_endpoint=_as_endpoint(ctx, row))


@requires(Scope.WEBHOOKS_WRITE, gives=get_webhook_endpoint, fresh=True, causes=())
async def update_webhook_endpoint(ctx: Context, id: UUID, data: WebhookEndpointUpdate) -> WebhookEndpoint:
    """Updates the fields that were sent. A token cannot update an endpoint with more scopes than its own.

    Whoever changes the `url` takes the place of the creator, with whose access the endpoint ends.
    """
    row = await get_for_update(ctx, WebhookEndpointRow, id=id)
    changes = data.changes()
    check_reach(ctx.principal, row.scopes, _MANAGED, ("id",))
    if "url" in changes:
        _check_url(ctx, changes["url"])
        if changes["url"] != row.url:
            # Otherwise a token that ends tomorrow could have its own URL told for ever.
            changes |= _maker(ctx.principal)
    if "kinds" in changes:
        _check_kinds(ctx.principal, changes["kinds"])
    _check_document(ctx, changes.get("document"), row.scopes)
    if changes.get("is_enabled") and not row.is_enabled:
        changes["disabled_reason"] = None
        changes["position"] = await newest_position(ctx.connection, row.workspace_id)
    if {"url", "disabled_reason"} & changes.keys():
        # What failed before says nothing of what is tried now.
        changes |= {"failing_since": None, "warned_at": None}
    changed = await update_row(ctx.connection, WebhookEndpointRow, row, **changes)
    wake_after(ctx)
    if changed.kinds != row.kinds or not changed.is_enabled:
        kinds = told_kinds(changed, frozenset(map(Scope, changed.scopes)))
        await skip_pending(ctx.connection, changed, but=kinds if changed.is_enabled else None)
    return shaped(ctx.services, WEBHOOK_ENDPOINT, changed)


@requires(Scope.WEBHOOKS_WRITE, removes=get_webhook_endpoint, causes=())
async def delete_webhook_endpoint(ctx: Context, id: UUID) -> UUID:
    """Deletes a webhook endpoint and its secrets."""
    row = await get_for_update(ctx, WebhookEndpointRow, id=id)
    await skip_pending(ctx.connection, row)
    await delete_secrets(ctx.connection, row)
    await delete_row(ctx.connection, WebhookEndpointRow, row)
    return id


@requires(Scope.WEBHOOKS_WRITE, seals=True, fresh=True, causes=())
async def rotate_webhook_endpoint_secret(ctx: Context, id: UUID) -> WebhookEndpointCreated:
    """Gives a webhook endpoint a new secret, which is shown only once.

    For 24 hours the one before signs too. A token cannot do this to an endpoint with more scopes than
    its own.
    """
    row = await get_for_update(ctx, WebhookEndpointRow, id=id)
    check_reach(ctx.principal, row.scopes, _MANAGED, ("id",))
    secret = await add_secret(ctx.connection, ctx.services.secret_key, row)
    return WebhookEndpointCreated(secret=secret, webhook_endpoint=_as_endpoint(ctx, row))


def _as_endpoint(ctx: Context, row: WebhookEndpointRow) -> WebhookEndpoint:
    endpoint: WebhookEndpoint = as_model(shaped(ctx.services, WEBHOOK_ENDPOINT, row))
    return endpoint


def _maker(principal: Principal) -> dict[str, str | UUID | None]:
    """Who creates an endpoint or gives it another URL, as its row says."""
    is_client = principal.kind is PrincipalKind.OAUTH_TOKEN
    return {
        "maker_kind": principal.kind.value,
        "maker_id": principal.oauth_client_id if is_client else principal.credential_id,
        "maker_user_id": principal.user_id or principal.maker_user_id,
    }


def _check_url(ctx: Context, url: str) -> None:
    """Raises `Invalid` for http in production."""
    if ctx.services.is_production and is_plain(url):
        message = "Input should be an https URL: http is for development only"
        raise Invalid([problem(("data", "url"), message, "webhook_url")])


def _check_kinds(principal: Principal, kinds: Sequence[str]) -> None:
    """Raises `Invalid` for a kind whose resource the caller's credential cannot read."""
    needed = SCOPES if ALL in kinds else sorted({scope_of(ChangeKind(kind)) for kind in kinds})
    if ALL not in kinds or not any(covers(principal.scopes, scope) for scope in SCOPES):
        check_reach(principal, needed, "which reads resources of these kinds", ("data", "kinds"))


def _check_document(ctx: Context, document: str | None, scopes: Sequence[str]) -> None:
    """Raises `Invalid` for a document that an endpoint with these scopes cannot run."""
    documents = ctx.services.webhooks.documents
    if document is not None and documents is not None:
        documents.check(document, frozenset(map(Scope, scopes)))


async def _check_room(ctx: Context, workspace_id: UUID) -> None:
    """Raises `NotPermitted` if the workspace has as many endpoints as it may have.

    The workspace is locked, so that two requests cannot both add the last one.
    """
    workspace = select(_workspaces.c.id).where(_workspaces.c.id == workspace_id)
    await ctx.connection.execute(workspace.with_for_update(key_share=True))
    counting = select(func.count()).select_from(_table).where(_table.c.workspace_id == workspace_id)
    if (await ctx.connection.execute(counting)).scalar_one() >= MOST_ENDPOINTS:
        raise NotPermitted(
            f"A workspace may have {MOST_ENDPOINTS} webhook endpoints: delete one that is no longer needed."
        )
