"""One good call of every operation, on a workspace that has one of each resource."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from oauth.consents import remember
from resolvers.credentials.browser_sessions import start_browser_session
from storage.rows import insert_row
from storage.tables.second_factors import PasskeyRow, TotpSecretRow
from tests.support.gateways import Tenant
from tests.support.membership import invited_elsewhere
from tests.support.surfaces import Surface
from tests.support.uploads import completion, new_file, put_parts, upload_image


@dataclass(frozen=True)
class World:
    """The ids of a workspace's resources; `unfinished` is a file whose parts have all arrived."""

    workspace: str
    slug: str
    share: str
    price: str
    custom_field: str
    media: str
    unfinished: dict[str, Any]
    unfinished_parts: list[dict[str, Any]]
    team: str
    member: str
    event: str
    file_share_session: str
    file_share_payment: str
    customer_token: str
    workspace_token: str
    personal_token: str
    browser_session: str
    passkey: str
    workspace_member: str
    invitation: str
    oauth_client: str
    authorized_application: str

    @property
    def ids(self) -> set[str]:
        return {value for value in vars(self).values() if isinstance(value, str)} - {self.customer_token}


async def make_world(workspace: Surface, user: Surface, tenant: Tenant) -> World:
    """One of each resource, made with a token of the workspace and one of its user."""
    media = await upload_image(workspace)
    field = await workspace.create_custom_field(data={"type": "text", "slug": "size", "name": "Size"})
    share = await workspace.create_share(
        data={
            "name": "Quarterly report",
            "prices": [{"amount_type": "fixed", "price_amount": 1500}],
            "medias": [media["id"]],
            "attached_custom_fields": [{"custom_field_id": field["id"], "required": True}],
        }
    )
    unfinished = await workspace.create_file(data=new_file())
    team = await workspace.create_customer(data={"email": "team@example.com", "type": "team"})
    member = await workspace.create_member(data={"customer_id": team["id"], "email": "bo@example.com"})
    events = await workspace.list_events(customer_id=[team["id"]])
    sharing = await workspace.create_file_share_session(
        data={
            "share_id": share["id"],
            "customer_id": team["id"],
            "price_amount": 1500,
            "file_size_bytes": 7,
        }
    )
    payment = await workspace.record_payment(id=sharing["id"], data={"amount": 1500, "currency": "usd"})
    session = await workspace.create_customer_session(data={"customer_id": team["id"]})
    token = await workspace.create_workspace_access_token(data={"comment": "a", "scopes": ["shares:read"]})
    personal = await user.create_personal_access_token(data={"comment": "a", "scopes": ["shares:read"]})
    async with workspace.app.state.services.database.write() as connection:
        await start_browser_session(connection, UUID(tenant.user_id), "address:192.0.2.1", "A browser")
    browser_session = (await user.list_browser_sessions())["data"][0]
    invited = await user.invite_workspace_member(data={"email": "new@example.com", "workspace_id": tenant.id})
    client = await workspace.create_oauth_client(data=OAUTH_CLIENT)
    allowed = await allow(user, tenant.user_id, client["oauth_client"]["id"])
    return World(
        workspace=tenant.id,
        slug=tenant.slug,
        share=share["id"],
        price=share["prices"][0]["id"],
        custom_field=field["id"],
        media=media["id"],
        unfinished=unfinished,
        unfinished_parts=await put_parts(workspace, unfinished["upload"], b"content"),
        team=team["id"],
        member=member["id"],
        event=events["data"][0]["id"],
        file_share_session=sharing["id"],
        file_share_payment=payment["id"],
        customer_token=session["token"],
        workspace_token=token["workspace_access_token"]["id"],
        personal_token=personal["personal_access_token"]["id"],
        browser_session=browser_session["id"],
        passkey=await add_factors(user, tenant.user_id),
        workspace_member=invited["id"],
        invitation=await invited_elsewhere(workspace.app.state.services.database, tenant.user_email),
        oauth_client=client["oauth_client"]["id"],
        authorized_application=allowed,
    )


async def add_factors(user: Surface, user_id: str) -> str:
    """Give the user an authenticator app and a passkey, as the pages do; gives the passkey's id."""
    owner, text = UUID(user_id), uuid4().hex
    async with user.app.state.services.database.write() as connection:
        await insert_row(connection, TotpSecretRow, user_id=owner, sealed="", last_step=0)
        values = {"name": "Phone", "credential_id": text, "public_key": "", "transports": ["internal"]}
        row = await insert_row(connection, PasskeyRow, user_id=owner, **values)
    return str(row.id)


async def allow(user: Surface, user_id: str, oauth_client_id: str) -> str:
    """Remember that the user allowed the client something, as the consent page does; gives its id."""
    async with user.app.state.services.database.write() as connection:
        await remember(connection, UUID(user_id), UUID(oauth_client_id), None, ["shares:read"])
    return str((await user.list_authorized_applications())["data"][-1]["id"])


Arguments = Callable[[World], dict[str, Any]]
FREE = [{"amount_type": "free"}]
OAUTH_CLIENT = {
    "name": "Bookkeeper",
    "redirect_uris": ["https://app.example.com/callback"],
    "scopes": ["openid", "shares:read"],
}

EXAMPLES: dict[str, Arguments] = {
    "get_viewer": lambda world: {},
    "create_workspace": lambda world: {"data": {"name": "Another", "slug": f"w-{uuid4().hex}"}},
    "get_workspace": lambda world: {"id": world.workspace},
    "list_workspaces": lambda world: {"name": "acme"},
    "update_workspace": lambda world: {"id": world.workspace, "data": {"name": "Renamed"}},
    "list_workspace_members": lambda world: {"workspace_id": [world.workspace]},
    "update_workspace_member": lambda world: {"id": world.workspace_member, "data": {"role": "owner"}},
    "list_workspace_invitations": lambda world: {},
    "get_workspace_invitation": lambda world: {"id": world.invitation},
    "accept_workspace_invitation": lambda world: {"id": world.invitation},
    "decline_workspace_invitation": lambda world: {"id": world.invitation},
    "get_workspace_member": lambda world: {"id": world.workspace_member},
    "invite_workspace_member": lambda world: {
        "data": {"email": "third@example.com", "workspace_id": world.workspace}
    },
    "remove_workspace_member": lambda world: {"id": world.workspace_member},
    "create_share": lambda world: {
        "data": {"name": "Another", "prices": FREE, "workspace_id": world.workspace, "medias": [world.media]}
    },
    "get_share": lambda world: {"id": world.share},
    "list_shares": lambda world: {"workspace_id": [world.workspace]},
    "update_share": lambda world: {"id": world.share, "data": {"prices": [{"id": world.price}]}},
    "delete_share": lambda world: {"id": world.share},
    "create_custom_field": lambda world: {
        "data": {"type": "date", "slug": "day", "name": "Day", "workspace_id": world.workspace}
    },
    "get_custom_field": lambda world: {"id": world.custom_field},
    "list_custom_fields": lambda world: {"workspace_id": [world.workspace]},
    "update_custom_field": lambda world: {"id": world.custom_field, "data": {"name": "Width"}},
    "delete_custom_field": lambda world: {"id": world.custom_field},
    "create_customer": lambda world: {"data": {"email": "ada@example.com", "workspace_id": world.workspace}},
    "get_customer": lambda world: {"id": world.team},
    "list_customers": lambda world: {"workspace_id": [world.workspace]},
    "update_customer": lambda world: {"id": world.team, "data": {"name": "Ada"}},
    "delete_customer": lambda world: {"id": world.team, "anonymize": True},
    "create_member": lambda world: {"data": {"customer_id": world.team, "email": "cy@example.com"}},
    "get_member": lambda world: {"id": world.member},
    "list_members": lambda world: {"customer_id": [world.team]},
    "update_member": lambda world: {"id": world.member, "data": {"role": "owner"}},
    "delete_member": lambda world: {"id": world.member},
    "create_customer_session": lambda world: {"data": {"customer_id": world.team}},
    "request_portal_code": lambda world: {"data": {"email": "team@example.com", "slug": world.slug}},
    "authenticate_portal_code": lambda world: {
        "data": {"email": "team@example.com", "slug": world.slug, "code": "ABCDEF"}
    },
    "get_portal_session": lambda world: {},
    "end_portal_session": lambda world: {},
    "get_portal_customer": lambda world: {},
    "update_portal_customer": lambda world: {"data": {"name": "Team"}},
    "get_portal_share": lambda world: {"id": world.share},
    "list_portal_shares": lambda world: {},
    "get_portal_file_share_session": lambda world: {"id": world.file_share_session},
    "list_portal_file_share_sessions": lambda world: {},
    "get_portal_member": lambda world: {"id": world.member},
    "list_portal_members": lambda world: {},
    "create_portal_member": lambda world: {"data": {"email": "cy@example.com"}},
    "update_portal_member": lambda world: {"id": world.member, "data": {"name": "Bo"}},
    "delete_portal_member": lambda world: {"id": world.member},
    "get_event": lambda world: {"id": world.event},
    "list_events": lambda world: {"workspace_id": [world.workspace]},
    "list_event_names": lambda world: {"workspace_id": [world.workspace]},
    "create_file_share_session": lambda world: {
        "data": {"share_id": world.share, "file_size_bytes": 7, "workspace_id": world.workspace}
    },
    "get_file_share_session": lambda world: {"id": world.file_share_session},
    "list_file_share_sessions": lambda world: {"workspace_id": [world.workspace]},
    "record_download": lambda world: {"id": world.file_share_session, "data": {}},
    "complete_file_share_session": lambda world: {"id": world.file_share_session, "data": {}},
    "expire_file_share_session": lambda world: {"id": world.file_share_session, "data": {}},
    "record_payment": lambda world: {
        "id": world.file_share_session,
        "data": {"amount": 1500, "currency": "eur"},
    },
    "get_file_share_payment": lambda world: {"id": world.file_share_payment},
    "refund_payment": lambda world: {"id": world.file_share_payment, "data": {}},
    "ingest_file_share_sessions": lambda world: {
        "data": {
            "workspace_id": world.workspace,
            "sessions": [{"external_id": "s-1", "created_at": "2026-01-31T09:30:00Z", "file_size_bytes": 7}],
        }
    },
    "ingest_events": lambda world: {
        "data": {
            "events": [{"name": "page.viewed", "customer_id": world.team, "member_id": world.member}],
            "workspace_id": world.workspace,
        }
    },
    "get_metrics": lambda world: {
        "start_date": "2026-01-01",
        "end_date": "2026-01-31",
        "interval": "day",
        "workspace_id": [world.workspace],
    },
    "get_metrics_limits": lambda world: {},
    "create_file": lambda world: {"data": new_file(workspace_id=world.workspace)},
    "get_file": lambda world: {"id": world.unfinished["id"]},
    "list_files": lambda world: {"workspace_id": [world.workspace]},
    "complete_file_upload": lambda world: {
        "id": world.unfinished["id"],
        "data": completion(world.unfinished, world.unfinished_parts),
    },
    "get_file_download": lambda world: {"id": world.media},
    "delete_file": lambda world: {"id": world.media},
    "create_workspace_access_token": lambda world: {
        "data": {"comment": "b", "scopes": ["shares:read"], "workspace_id": world.workspace}
    },
    "get_workspace_access_token": lambda world: {"id": world.workspace_token},
    "list_workspace_access_tokens": lambda world: {"workspace_id": [world.workspace]},
    "update_workspace_access_token": lambda world: {"id": world.workspace_token, "data": {"comment": "c"}},
    "delete_workspace_access_token": lambda world: {"id": world.workspace_token},
    "create_personal_access_token": lambda world: {"data": {"comment": "b", "scopes": ["shares:read"]}},
    "get_personal_access_token": lambda world: {"id": world.personal_token},
    "list_personal_access_tokens": lambda world: {},
    "update_personal_access_token": lambda world: {"id": world.personal_token, "data": {"comment": "c"}},
    "delete_personal_access_token": lambda world: {"id": world.personal_token},
    "create_oauth_client": lambda world: {"data": {**OAUTH_CLIENT, "workspace_id": world.workspace}},
    "get_oauth_client": lambda world: {"id": world.oauth_client},
    "list_oauth_clients": lambda world: {"workspace_id": [world.workspace]},
    "update_oauth_client": lambda world: {"id": world.oauth_client, "data": {"name": "Accounts"}},
    "rotate_oauth_client_secret": lambda world: {"id": world.oauth_client},
    "delete_oauth_client": lambda world: {"id": world.oauth_client},
    "get_authorized_application": lambda world: {"id": world.authorized_application},
    "list_authorized_applications": lambda world: {},
    "revoke_authorized_application": lambda world: {"id": world.authorized_application},
    "list_browser_sessions": lambda world: {},
    "get_browser_session": lambda world: {"id": world.browser_session},
    "delete_browser_session": lambda world: {"id": world.browser_session},
    "get_second_factors": lambda world: {},
    "delete_totp": lambda world: {},
    "list_passkeys": lambda world: {},
    "get_passkey": lambda world: {"id": world.passkey},
    "update_passkey": lambda world: {"id": world.passkey, "data": {"name": "Laptop"}},
    "delete_passkey": lambda world: {"id": world.passkey},
}

# Operations on the caller's own rows: there is no other tenant's row to reach.
OWN = {
    "get_viewer",
    "get_metrics_limits",
    "create_workspace",
    "list_workspaces",
    "create_personal_access_token",
    "list_personal_access_tokens",
    "list_authorized_applications",
    "get_portal_session",
    "end_portal_session",
    "get_portal_customer",
    "update_portal_customer",
    "create_portal_member",
    "list_browser_sessions",
    "get_second_factors",
    "list_workspace_invitations",
}

# Operations on what is a user's own, or for users only, which a workspace's token has nothing to do with.
PERSONAL = {
    name
    for name in EXAMPLES
    if any(noun in name for noun in ("personal", "authorized_application", "browser_session", "invitation"))
} | {"invite_workspace_member", "update_workspace_member", "remove_workspace_member"}

# Operations that only a browser in which the user is signed in can do.
IN_A_BROWSER = {name for name in EXAMPLES if any(noun in name for noun in ("passkey", "totp", "factor"))}
