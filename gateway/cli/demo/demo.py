"""Demo data, created through the operations of the API, as callers would create it."""

import secrets
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from gateway.cli.demo.data import CUSTOM_FIELDS, CUSTOMERS, SHARES, WORKSPACE
from gateway.cli.kit.as_user import in_place_of, in_place_of_workspace, perform
from gateway.settings.settings import Settings
from oauth.credentials import Credential
from oauth.scopes import USER_SCOPES, WORKSPACE_SCOPES
from resolvers.accounts.users import create_user
from resolvers.credentials.tokens import issue_token
from resolvers.customers.customers import create_customer
from resolvers.customers.members import create_member
from resolvers.operations.context import Context
from resolvers.shares.custom_fields import create_custom_field
from resolvers.shares.shares import create_share
from resolvers.workspaces.administration import change_status, find_workspace, first_owner_id
from resolvers.workspaces.memberships import invite, join
from resolvers.workspaces.workspaces import create_workspace
from schema.workspaces.workspaces import Workspace
from storage.clock import now
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.enums import CredentialKind, WorkspaceRole, WorkspaceStatus
from storage.rows.rows import Duplicate, table_of, update_rows, values_of
from storage.tables.accounts.users import UserRow
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.customers.customers import CustomerRow
from storage.tables.workspaces.workspaces import WorkspaceRow

SLUG = "demo"
COMMENT = "Demo"
# Before the first of the purchases in `files.py`.
CUSTOMERS_SINCE = timedelta(days=40)

_customers = table_of(CustomerRow)
_REVIEW = (WorkspaceStatus.ONBOARDING_STARTED, WorkspaceStatus.INITIAL_REVIEW, WorkspaceStatus.ACTIVE)


@dataclass(frozen=True)
class Demo:
    """A demo workspace with the credentials to use it; the secrets exist nowhere else."""

    workspace: Workspace
    workspace_token: str
    email: str
    password: str
    personal_token: str


async def make_demo(settings: Settings, database: Database) -> Demo:
    """Create a demo workspace in one transaction: `demo`, or `demo-` and eight hex digits if that exists.

    Its tokens never expire.
    """
    async with database.read() as connection:
        is_taken = await find_workspace(connection, SLUG) is not None
    try:
        return await _make(settings, database, _another_slug() if is_taken else SLUG)
    except Duplicate:
        return await _make(settings, database, _another_slug())


async def _make(settings: Settings, database: Database, slug: str) -> Demo:
    password = secrets.token_urlsafe(12)
    async with database.write() as connection:
        user, workspace = await make_workspace(connection, settings, database, slug, password)
        token, _ = await issue_workspace_token(connection, workspace)
        personal, _ = await issue_token(
            connection, CredentialKind.PERSONAL_TOKEN, USER_SCOPES, user_id=user.id, comment=COMMENT
        )
    shown = Workspace.model_validate(values_of(workspace))
    return Demo(shown, token.text, user.email, password, personal.text)


async def make_workspace(
    connection: Connection, settings: Settings, database: Database, slug: str, password: str
) -> tuple[UserRow, WorkspaceRow]:
    """Create a demo workspace, its owner and its data, without tokens. Raises `Duplicate`."""
    user = await create_user(connection, email_of(slug), password, "Demo")
    ctx = replace(in_place_of(user, settings, database), transaction=connection)
    workspace = await perform(ctx, create_workspace, data={**WORKSPACE, "slug": slug})
    for status in _REVIEW:
        row = await change_status(connection, slug, status)
    inside = replace(in_place_of_workspace(workspace.id, settings, database), transaction=connection)
    await _fill(connection, inside, workspace.id)
    await _add_people(connection, workspace.id, slug, user)
    return user, row


async def issue_workspace_token(
    connection: Connection,
    workspace: WorkspaceRow,
    *,
    credential: Credential | None = None,
    expires_in: timedelta | None = None,
) -> tuple[Credential, CredentialRow]:
    """Create a token with all scopes for the workspace."""
    return await issue_token(
        connection,
        CredentialKind.WORKSPACE_TOKEN,
        WORKSPACE_SCOPES,
        workspace_id=workspace.id,
        maker_user_id=await first_owner_id(connection, workspace.id),
        comment=COMMENT,
        expires_in=expires_in,
        credential=credential,
    )


async def _fill(connection: Connection, ctx: Context, workspace_id: UUID) -> None:
    """Create what the workspace of `ctx` sells, and its customers, who have been there for some time."""
    custom_fields = {}
    for data in CUSTOM_FIELDS:
        custom_field = await perform(ctx, create_custom_field, data=data)
        custom_fields[custom_field.slug] = str(custom_field.id)
    for share in SHARES:
        attached = [
            {"custom_field_id": custom_fields[slug], "required": False}
            for slug in share.get("custom_fields", ())
        ]
        data = {name: value for name, value in share.items() if name != "custom_fields"}
        await perform(ctx, create_share, data=data | {"attached_custom_fields": attached})
    for data, members in CUSTOMERS:
        customer = await perform(ctx, create_customer, data=data)
        same = (_customers.c.workspace_id == workspace_id) & (_customers.c.id == customer.id)
        await update_rows(connection, CustomerRow, same, created_at=now() - CUSTOMERS_SINCE)
        for member in members:
            await perform(ctx, create_member, data={**member, "customer_id": str(customer.id)})


async def _add_people(connection: Connection, workspace_id: UUID, slug: str, founder: UserRow) -> None:
    """Add a second member and an open invitation; neither gets an email."""
    colleague = await create_user(connection, f"robin-{slug}@example.com", secrets.token_urlsafe(12), "Robin")
    addresses = (colleague.email, f"alex-{slug}@example.com")
    rows = [
        await invite(connection, workspace_id, email, WorkspaceRole.MEMBER, founder.id) for email in addresses
    ]
    await join(connection, rows[0], colleague)


def _another_slug() -> str:
    return f"{SLUG}-{secrets.token_hex(4)}"


def email_of(slug: str) -> str:
    return f"{slug}@example.com"
