"""A workspace with one of each resource."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID, uuid4

from oauth.provider.consents import remember
from resolvers.credentials.browser_sessions import start_browser_session
from storage.clock import now
from storage.rows.rows import insert_row
from storage.tables.accounts.second_factors import PasskeyRow, TotpSecretRow
from storage.tables.webhooks.deliveries import WebhookDeliveryRow
from tests.support.callers.surfaces import Refused, Rest, Surface
from tests.support.servers.gateways import Gateway, Tenant
from tests.support.tenants.membership import invited_elsewhere
from tests.support.tenants.uploads import new_file, put_parts, upload_file, upload_image

OAUTH_CLIENT = {
    "name": "Bookkeeper",
    "redirect_uris": ["https://app.example.com/callback"],
    "scopes": ["openid", "shares:read"],
}

# Not enabled: the gateways of all tests would go on trying to reach it.
WEBHOOK = {"url": "https://hooks.example.com/duograph", "kinds": ["share.created"], "is_enabled": False}
# Enabled, but told of what tests hardly do, at an address to which nothing is sent.
TOLD_WEBHOOK = {"url": "https://127.0.0.1/hooks", "kinds": ["workspace.status_changed"]}


@dataclass(frozen=True)
class World:
    """The ids of a workspace's resources; `unfinished` is a file whose parts have all arrived."""

    workspace: str
    slug: str
    share: str
    price: str
    custom_field: str
    media: str
    download: str
    unfinished: dict[str, Any]
    unfinished_parts: list[dict[str, Any]]
    team: str
    member: str
    event: str
    file_share_session: str
    file_share_payment: str
    file_share_refund: str
    file_share_download: str
    customer_token: str
    workspace_token: str
    personal_token: str
    browser_session: str
    passkey: str
    workspace_member: str
    invitation: str
    oauth_client: str
    oauth_client_document: str
    webhook_endpoint: str
    told_endpoint: str
    webhook_delivery: str
    authorized_application: str

    @property
    def ids(self) -> set[str]:
        return {value for value in vars(self).values() if isinstance(value, str)} - {self.customer_token}


async def make_world(workspace: Surface, user: Surface, tenant: Tenant) -> World:
    """One of each resource, made with a token of the workspace and one of its user."""
    media, download = await upload_image(workspace), await upload_file(workspace)
    field = await workspace.create_custom_field(data={"type": "text", "slug": "size", "name": "Size"})
    deleted = await workspace.create_custom_field(data={"type": "text", "slug": "gone", "name": "Gone"})
    await workspace.delete_custom_field(id=deleted["id"])
    share = await workspace.create_share(
        data={
            "name": "Quarterly report",
            "prices": [{"amount_type": "fixed", "price_amount": 1500}],
            "medias": [media["id"]],
            "downloads": [download["id"]],
            "attached_custom_fields": [{"custom_field_id": field["id"], "required": True}],
        }
    )
    unfinished = await workspace.create_file(data=new_file())
    team = await workspace.create_customer(data={"email": "team@example.com", "type": "team"})
    member = await workspace.create_member(data={"customer_id": team["id"], "email": "bo@example.com"})
    events = await workspace.list_events(customer_id=[team["id"]])
    sharing = await workspace.create_file_share_session(
        data={"share_id": share["id"], "customer_id": team["id"], "price_amount": 1500, "file_size_bytes": 7}
    )
    payment = await workspace.record_payment(id=sharing["id"], data={"amount": 1501, "currency": "usd"})
    refunded = await workspace.refund_payment(id=payment["id"], data={"amount": 1})
    await workspace.record_download(id=sharing["id"], data={})
    session = await workspace.create_customer_session(data={"customer_id": team["id"]})
    token = await workspace.create_workspace_access_token(data={"comment": "a", "scopes": ["shares:read"]})
    personal = await user.create_personal_access_token(data={"comment": "a", "scopes": ["shares:read"]})
    async with workspace.app.state.services.database.write() as connection:
        await start_browser_session(connection, UUID(tenant.user_id), "address:192.0.2.1", "A browser")
    browser_session = (await user.list_browser_sessions())["data"][0]
    invited = await user.invite_workspace_member(data={"email": "new@example.com", "workspace_id": tenant.id})
    client = await workspace.create_oauth_client(data=OAUTH_CLIENT)
    allowed = await allow(user, tenant.user_id, client["oauth_client"]["id"])
    webhook = await workspace.create_webhook_endpoint(data=WEBHOOK)
    told = await workspace.create_webhook_endpoint(data=TOLD_WEBHOOK)
    documents = await workspace.register_oauth_client_documents(
        id=client["oauth_client"]["id"],
        data={"documents": [{"text": "{ shares { data { name } } }", "name": "Names"}]},
    )
    return World(
        workspace=tenant.id,
        slug=tenant.slug,
        share=share["id"],
        price=share["prices"][0]["id"],
        custom_field=field["id"],
        media=media["id"],
        download=download["id"],
        unfinished=unfinished,
        unfinished_parts=await put_parts(workspace, unfinished["upload"], b"content"),
        team=team["id"],
        member=member["id"],
        event=events["data"][0]["id"],
        file_share_session=sharing["id"],
        file_share_payment=payment["id"],
        file_share_refund=refunded["refunds"][0]["id"],
        file_share_download=(await workspace.list_file_share_downloads())["data"][0]["id"],
        customer_token=session["token"],
        workspace_token=token["workspace_access_token"]["id"],
        personal_token=personal["personal_access_token"]["id"],
        browser_session=browser_session["id"],
        passkey=await add_factors(user, tenant.user_id),
        workspace_member=invited["id"],
        invitation=await invited_elsewhere(workspace.app.state.services.database, tenant.user_email),
        oauth_client=client["oauth_client"]["id"],
        oauth_client_document=documents["data"][0]["id"],
        webhook_endpoint=webhook["webhook_endpoint"]["id"],
        told_endpoint=told["webhook_endpoint"]["id"],
        webhook_delivery=await add_delivery(workspace, told["webhook_endpoint"], share["id"]),
        authorized_application=allowed,
    )


async def world_of(gateway: Gateway, tenant: Tenant) -> World:
    """One of each resource of the tenant's workspace."""
    workspace = Rest(gateway.client, gateway.app, tenant.token)
    return await make_world(workspace, workspace.with_token(tenant.personal_token), tenant)


Used = TypeVar("Used")


async def check_each(
    names: Iterable[str],
    make: Callable[[], Awaitable[Used]],
    check: Callable[[str, Used], Awaitable[None]],
) -> None:
    """Check each operation in a world that those before it have changed; if that fails, a new one decides.

    Making a world takes longer than most operations.
    """
    used = None
    for name in names:
        if used is not None:
            try:
                await check(name, used)
                continue
            except (AssertionError, Refused):
                pass
        used = await make()
        try:
            await check(name, used)
        except (AssertionError, Refused) as error:
            error.add_note(name)
            raise


async def make_customer_token(gateway: Gateway, tenant: Tenant) -> str:
    """A session of a new team customer of the tenant."""
    workspace = Rest(gateway.client, gateway.app, tenant.token)
    team = await workspace.create_customer(data={"email": f"{uuid4().hex}@example.com", "type": "team"})
    return str((await workspace.create_customer_session(data={"customer_id": team["id"]}))["token"])


async def add_factors(user: Surface, user_id: str) -> str:
    """Give the user an authenticator app and a passkey, as the pages do; gives the passkey's id."""
    owner, text = UUID(user_id), uuid4().hex
    async with user.app.state.services.database.write() as connection:
        await insert_row(connection, TotpSecretRow, user_id=owner, sealed="", last_step=0)
        values = {"name": "Phone", "credential_id": text, "public_key": "", "transports": ["internal"]}
        row = await insert_row(connection, PasskeyRow, user_id=owner, **values)
    return str(row.id)


async def add_delivery(workspace: Surface, endpoint: dict[str, Any], share: str) -> str:
    """A delivery to the endpoint, which was not sent because it does not ask for the kind; gives its id."""
    values = {"change_id": uuid4(), "position": 1, "kind": "share.created", "status": "skipped"}
    moments = dict.fromkeys(("at", "first_due_at", "due_at", "ended_at"), now())
    async with workspace.app.state.services.database.write() as connection:
        row = await insert_row(
            connection,
            WebhookDeliveryRow,
            workspace_id=UUID(endpoint["workspace_id"]),
            endpoint_id=UUID(endpoint["id"]),
            resource_id=UUID(share),
            **values,
            **moments,
        )
    return str(row.id)


async def allow(user: Surface, user_id: str, oauth_client_id: str) -> str:
    """Remember that the user allowed the client something, as the consent page does; gives its id."""
    async with user.app.state.services.database.write() as connection:
        await remember(connection, UUID(user_id), UUID(oauth_client_id), None, ["shares:read"])
    return str((await user.list_authorized_applications())["data"][-1]["id"])
