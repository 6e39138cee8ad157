"""Emails to a workspace's owners about new credentials: their creator and their scopes."""

from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy import select

from resolvers.mails.brands import brand_of
from resolvers.mails.mails import make_mails, send_mails
from resolvers.mails.members import mailed_members
from resolvers.operations.context import Context
from schema.accounts.people import Person
from schema.credentials.access_tokens import WorkspaceAccessToken
from schema.credentials.oauth_clients import OAuthClient
from schema.values.prose import write_moment
from storage.rows.rows import table_of
from storage.tables.workspaces.workspaces import WorkspaceRow

_workspaces = table_of(WorkspaceRow)


async def mail_token(ctx: Context, token: WorkspaceAccessToken, *, is_new: bool = True) -> None:
    """Notify the owners of a token that is new, or that gained scopes or a longer life."""
    await _mail_owners(
        ctx,
        token.workspace_id,
        "access_token",
        is_new=is_new,
        comment=token.comment,
        scopes=token.scopes,
        **_creator(token.created_by),
        ends=partial(write_moment, token.expires_at) if token.expires_at else None,
        path="access-tokens",
    )


async def mail_new_client(ctx: Context, client: OAuthClient) -> None:
    """Notify the owners of a new OAuth client, if it belongs to a workspace."""
    if client.workspace_id is None:
        return
    await _mail_owners(
        ctx,
        client.workspace_id,
        "oauth_client",
        name=client.name,
        scopes=client.scopes,
        **_creator(client.created_by),
        path="oauth-clients",
    )


async def _mail_owners(ctx: Context, workspace_id: UUID, template: str, *, path: str, **values: Any) -> None:
    statement = select(_workspaces.c.name, _workspaces.c.slug, _workspaces.c.avatar_url)
    own_row = statement.where(_workspaces.c.id == workspace_id)
    workspace = (await ctx.connection.execute(own_row)).one()
    own = ctx.services.auth_url
    brand = brand_of(workspace_id, workspace.name, workspace.avatar_url, own)
    page = f"{own}/workspaces/{workspace.slug}/{path}"
    owners = await mailed_members(ctx.connection, workspace_id, owners_only=True)
    mails = make_mails(owners, template, brand=brand, workspace=workspace.name, page=page, **values)
    await send_mails(ctx, mails, workspace_id)


def _creator(person: Person | None) -> dict[str, str | None]:
    if person is None:
        return {"creator": None, "creator_address": None}
    return {"creator": person.name, "creator_address": person.email}
