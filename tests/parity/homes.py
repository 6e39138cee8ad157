"""Workspaces with several of each resource, made alike: what one has, the other has in the same place."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from oauth.credentials import Credential
from tests.support.callers.examples import IN_A_BROWSER, PERSONAL
from tests.support.callers.surfaces import Rest, Surface
from tests.support.callers.world import World, make_world
from tests.support.servers.gateways import Gateway, Tenant, make_tenant, start_session
from tests.support.tenants.uploads import upload_file, upload_image
from tests.surfaces.test_permissions import PORTAL

CURRENCIES = ["usd", "eur", "jpy"]
FIRST_MOMENTS = ["2026-01-02T23:30:00Z", "2026-01-31T09:30:00.5Z", "2026-02-28T12:00:00Z"]


@dataclass
class Home:
    """A workspace; `ids` are its resources by kind, in the order in which they were made.

    `moments` are those at which some of them were made or changed; `session` is its user's in a browser.
    """

    gateway: Gateway
    tenant: Tenant
    world: World
    ids: Mapping[str, list[str]]
    moments: list[str]
    session: Credential

    def caller(self, surface: type[Surface], name: str, world: World) -> Surface:
        """A caller over the surface with the credential that the operation takes."""
        make = partial(surface, self.gateway.client, self.gateway.app)
        if name in IN_A_BROWSER:
            return make(None).in_browser(self.session)
        if name in PORTAL:
            return make(world.customer_token)
        return make(self.tenant.personal_token if name in PERSONAL | OF_USERS else self.tenant.token)


# Operations of a user that a token of a workspace may not do.
OF_USERS = {"copy_workspace", "create_workspace", "update_workspace"}


async def make_home(gateway: Gateway) -> Home:
    tenant = await make_tenant(gateway)
    workspace = Rest(gateway.client, gateway.app, tenant.token)
    user = workspace.with_token(tenant.personal_token)
    # An app's scheme may stand in a `return_url`, and members may enter the portal.
    settings = {"feature_settings": {"member_model_enabled": True}, "return_url_schemes": ["myapp"]}
    await user.update_workspace(id=tenant.id, data=settings)
    world = await make_world(workspace, user, tenant)
    ids: dict[str, list[str]] = {"workspace": [tenant.id], "user": [tenant.user_id]}
    await _add_catalogue(workspace, world, ids)
    await _add_people(workspace, world, ids)
    await _add_sales(workspace, world, ids)
    await _add_events(workspace, ids)
    await _delete_some(workspace)
    session = await start_session(gateway, tenant.user_id)
    return Home(gateway, tenant, world, ids, await _moments(workspace), session)


async def _add_catalogue(workspace: Any, world: World, ids: dict[str, list[str]]) -> None:
    ids["custom_field"], ids["media"], ids["share"] = [world.custom_field], [world.media], [world.share]
    for type_ in ("number", "checkbox"):
        made = await workspace.create_custom_field(data={"type": type_, "slug": type_, "name": type_})
        ids["custom_field"].append(made["id"])
    ids["media"].append((await upload_image(workspace, name="back.png"))["id"])
    ids["file"] = [*ids["media"], world.unfinished["id"], (await upload_file(workspace))["id"]]
    prices: list[dict[str, Any]] = [
        {"amount_type": "free"},
        {"amount_type": "custom", "minimum_amount": 100, "preset_amount": 500, "price_currency": "eur"},
        {"amount_type": "fixed", "price_amount": 900, "price_currency": "jpy"},
    ]
    for number, price in enumerate(prices):
        data = {"name": f"Report {number}", "prices": [price], "metadata": {"year": 2024 + number}}
        visibility = ["draft", "private", "public"][number]
        share = await workspace.create_share(data=data | {"visibility": visibility})
        ids["share"].append(share["id"])
    await workspace.update_share(id=ids["share"][1], data={"is_archived": True})


async def _add_people(workspace: Any, world: World, ids: dict[str, list[str]]) -> None:
    ids["customer"], ids["member"] = [world.team], [world.member]
    for number, name in enumerate(["Ada", "Grace", "Ünal"]):
        customer = await workspace.create_customer(
            data={
                "email": f"{number}@example.com",
                "name": name,
                "external_id": f"person-{number}",
                "metadata": {"plan": "pro" if number else "free"},
                "type": "team" if number == 1 else "individual",
                "billing_address": {"city": "Paris", "country": "FR"},
            }
        )
        ids["customer"].append(customer["id"])
    member = {"customer_id": ids["customer"][2], "email": "helper@example.com", "external_id": "helper"}
    ids["member"].append((await workspace.create_member(data=member))["id"])


async def _add_sales(workspace: Any, world: World, ids: dict[str, list[str]]) -> None:
    ids["session"], ids["payment"] = [world.file_share_session], [world.file_share_payment]
    histories = [
        {
            "external_id": f"session-{number}",
            "created_at": moment,
            "file_size_bytes": 10**number,
            "share_id": ids["share"][number % 4],
            "customer_id": ids["customer"][number % 4],
            "price_amount": 900,
            "price_currency": currency,
            "downloads": [moment],
            "payments": [
                {
                    "amount": 900,
                    "currency": currency,
                    "platform_fee": 45,
                    "at": moment,
                    "external_id": f"payment-{number}",
                    "refunds": [{"amount": 300, "at": moment, "external_id": f"refund-{number}"}],
                }
            ],
        }
        for number, (moment, currency) in enumerate(
            (moment, currency) for moment in FIRST_MOMENTS for currency in CURRENCIES
        )
    ]
    await workspace.ingest_file_share_sessions(data={"sessions": histories})
    (session,) = (await workspace.list_file_share_sessions(external_id=["session-3"]))["data"]
    download = {"external_id": "download-3", "at": session["created_at"]}
    await workspace.record_download(id=session["id"], data=download)
    for name, listed in (
        ("session", workspace.list_file_share_sessions),
        ("payment", workspace.list_file_share_payments),
        ("refund", workspace.list_file_share_refunds),
        ("download", workspace.list_file_share_downloads),
    ):
        items = (await listed(limit=100))["data"]
        ids[name] = [item["id"] for item in sorted(items, key=lambda item: item["external_id"] or "")]
    await workspace.complete_file_share_session(id=ids["session"][1], data={})
    await workspace.expire_file_share_session(id=ids["session"][2], data={})


async def _add_events(workspace: Any, ids: dict[str, list[str]]) -> None:
    events = [
        {
            "name": ["page.viewed", "Report opened", "paid"][number % 3],
            "external_id": f"event-{number}",
            "customer_id": ids["customer"][number % 4],
            "share_id": ids["share"][number % 4],
            "timestamp": moment,
            "metadata": {"page": number, "deep": number % 2 == 0},
            **(
                {"cost": {"amount": f"{number}.25", "currency": CURRENCIES[number % 3]}} if number % 2 else {}
            ),
            **({"parent_id": f"event-{number - 1}"} if number % 3 else {}),
        }
        for number, moment in enumerate(FIRST_MOMENTS * 3)
    ]
    strangers = [{"name": "page.viewed", "external_customer_id": "stranger", "external_id": "event-9"}]
    ids["event"] = (await workspace.ingest_events(data={"events": events + strangers}))["ids"]


async def _moments(workspace: Any) -> list[str]:
    listed = [workspace.list_shares, workspace.list_customers, workspace.list_file_share_sessions]
    items = [item for each in listed for item in (await each(sorting=["created_at"], limit=4))["data"]]
    deleted = [item["deleted_at"] for item in (await workspace.list_deletions())["data"]]
    return [item[name] for item in items for name in ("created_at", "modified_at") if item[name]] + deleted


async def _delete_some(workspace: Any) -> None:
    customer = await workspace.create_customer(data={"email": "gone@example.com", "type": "team"})
    member = {"customer_id": customer["id"], "email": "away@example.com"}
    await workspace.delete_member(id=(await workspace.create_member(data=member))["id"])
    await workspace.delete_customer(id=customer["id"])
    await workspace.delete_file(id=(await upload_file(workspace))["id"])
    field = await workspace.create_custom_field(data={"type": "date", "slug": "left", "name": "Left"})
    await workspace.delete_custom_field(id=field["id"])
