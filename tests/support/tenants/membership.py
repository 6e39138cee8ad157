"""Users beside a tenant's first one: strangers, members and owners, each with a personal token."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import func, select
from sqlmodel import SQLModel

from oauth.scopes import USER_SCOPES
from oauth.sign_in.passwords import hash_password
from resolvers.accounts.users import create_user, insert_user
from resolvers.credentials.tokens import issue_token
from resolvers.workspaces.administration import insert_workspace
from resolvers.workspaces.memberships import invite, join
from storage.enums import CredentialKind, WorkspaceRole
from storage.rows.rows import insert_row, one, table_of
from storage.tables.accounts.users import UserRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow
from tests.support.servers.gateways import Gateway, Tenant

_users = table_of(UserRow)


@dataclass(frozen=True)
class TestUser:
    """A user; `member_id` is the membership in the tenant's workspace, where there is one."""

    __test__ = False

    id: str
    email: str
    token: str
    member_id: str | None = None

    @property
    def user_id(self) -> str:
        return self.id


def new_email() -> str:
    return f"u-{uuid4().hex}@example.com"


def new_slug() -> str:
    return f"w-{uuid4().hex}"


async def join_too(gateway: Gateway, user: Tenant, workspace: Tenant) -> None:
    """Let a tenant's user belong to the workspace of another, too."""
    values = {"user_id": UUID(user.user_id), "email": user.user_email}
    async with gateway.database.write() as connection:
        await insert_row(connection, WorkspaceMemberRow, workspace_id=UUID(workspace.id), **values)


async def make_user(gateway: Gateway, *, email: str | None = None, confirmed: bool = True) -> TestUser:
    """A user who belongs to no workspace."""
    address = email or new_email()
    async with gateway.database.write() as connection:
        if confirmed:
            row = await create_user(connection, address, "a long password", "Grace")
        else:
            row = await insert_user(connection, address, hash_password("a long password"), "Grace")
        token, _ = await issue_token(connection, CredentialKind.PERSONAL_TOKEN, USER_SCOPES, user_id=row.id)
    return TestUser(str(row.id), address, token.text)


async def make_member(
    gateway: Gateway, tenant: Tenant, role: str = "member", inviter: str | None = None
) -> TestUser:
    """A user who was invited to the tenant's workspace, by its founder or by another, and has accepted."""
    user, inviter_id = await make_user(gateway), UUID(inviter or tenant.user_id)
    async with gateway.database.write() as connection:
        row = await invite(connection, UUID(tenant.id), user.email, WorkspaceRole(role), inviter_id)
        await join(connection, row, await one(connection, UserRow, _users.c.id == UUID(user.id)))
    return TestUser(user.id, user.email, user.token, str(row.id))


async def members_of(surface: Any, tenant: Tenant) -> dict[str, str]:
    """The role of each member and invitation by address, as a workspace token sees them."""
    page = await surface.with_token(tenant.token).list_workspace_members(limit=100)
    return {member["email"]: member["role"] for member in page["data"]}


async def references_to(gateway: Gateway, user_id: UUID) -> list[str]:
    """The columns in which rows refer to the user."""
    columns = [
        column
        for table in SQLModel.metadata.sorted_tables
        for column in table.c
        if column.references(_users.c.id)
    ]
    found = []
    async with gateway.database.read() as connection:
        for column in columns:
            count = select(func.count()).select_from(column.table).where(column == user_id)
            if (await connection.execute(count)).scalar_one():
                found.append(str(column))
    return found


async def invited_elsewhere(database: Any, email: str) -> str:
    """The id of an invitation of the address to another workspace than its user's."""
    slug = f"w-{uuid4().hex}"
    async with database.write() as connection:
        founder = await create_user(connection, f"{slug}@example.com", "a long password", "Eve")
        other = await insert_workspace(connection, founder, name="Elsewhere", slug=slug)
        row = await invite(connection, other.id, email, WorkspaceRole.MEMBER, founder.id)
    return str(row.id)
