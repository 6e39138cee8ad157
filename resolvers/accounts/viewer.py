"""The credential's own kind, scopes and owner."""

from datetime import UTC, datetime
from uuid import UUID

from oauth.principals import Principal, PrincipalKind
from oauth.scopes import Scope
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from schema.accounts.viewer import Viewer, ViewerUser, ViewerWorkspace
from storage.rows.rows import Model, first, table_of, values_of
from storage.tables.accounts.users import UserRow
from storage.tables.workspaces.workspaces import WorkspaceRow


@requires(None, kinds=frozenset(PrincipalKind))
async def get_viewer(ctx: Context) -> Viewer:
    """Returns the user, workspace or customer of the credential, and its scopes."""
    principal = ctx.principal
    stamp = principal.expires_at_stamp
    workspace = await _find(ctx, WorkspaceRow, principal.workspace_id)
    user = await _find(ctx, UserRow, _user_id(principal))
    return Viewer(
        kind=principal.kind,
        scopes=sorted(principal.scopes),
        expires_at=None if stamp is None else datetime.fromtimestamp(stamp, UTC),
        user_id=None if user is None else user.id,
        user=None if user is None else _seen(principal, user),
        workspace_id=None if workspace is None else workspace.id,
        workspace=None if workspace is None else ViewerWorkspace.model_validate(values_of(workspace)),
        customer_id=principal.customer_id,
    )


def _seen(principal: Principal, user: UserRow) -> ViewerUser:
    """The user; an OAuth client learns of the email and the profile only what its scopes allow."""
    values = values_of(user)
    if principal.kind is PrincipalKind.OAUTH_TOKEN and Scope.USER_READ not in principal.scopes:
        values["email"] = user.email if Scope.EMAIL in principal.scopes else None
        if Scope.PROFILE not in principal.scopes:
            values |= {"name": None, "language": None}
    return ViewerUser.model_validate(values)


def _user_id(principal: Principal) -> UUID | None:
    # A workspace access token has no user; an OAuth token for a workspace acts for the user who consented.
    if principal.kind is PrincipalKind.OAUTH_TOKEN:
        return principal.user_id or principal.maker_user_id
    return principal.user_id


async def _find(ctx: Context, model: type[Model], id: UUID | None) -> Model | None:
    if id is None:
        return None
    async with ctx.read() as connection:
        return await first(connection, model, table_of(model).c.id == id)
