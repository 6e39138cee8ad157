"""What a change is made to: a new resource for each case, so that no case meets what another one left."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

from tests.parity.homes import Home
from tests.support.callers.examples import FREE
from tests.support.callers.surfaces import Refused, Rest
from tests.support.callers.world import (
    OAUTH_CLIENT,
    TOLD_WEBHOOK,
    WEBHOOK,
    World,
    add_delivery,
    add_factors,
    allow,
)
from tests.support.mails.mailed import latest_code
from tests.support.mails.portal_codes import request
from tests.support.servers.gateways import start_session
from tests.support.tenants.membership import invited_elsewhere
from tests.support.tenants.uploads import new_file, put_parts, upload_image

Subject = Callable[[Home, Any, Any, str], Awaitable[dict[str, Any]]]


async def make_subject(home: Home, name: str, unique: str) -> tuple[World, dict[str, Any]]:
    """The home's world with a new resource for the operation to change, and what its body has to say.

    `unique` names the resource where a name must be new.
    """
    workspace = Rest(home.gateway.client, home.gateway.app, home.tenant.token)
    user = workspace.with_token(home.tenant.personal_token)
    make = SUBJECTS.get(name)
    made = await make(home, workspace, user, unique) if make else {}
    of_world = {field.name for field in fields(World)} & made.keys()
    said = {key: value for key, value in made.items() if key not in of_world}
    return replace(home.world, **{key: made[key] for key in of_world}), said


async def _share(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    fields = [{"custom_field_id": home.world.custom_field, "required": True}]
    data = {"name": "A report", "prices": FREE, "medias": [home.world.media], "metadata": {"year": 2026}}
    share = await workspace.create_share(data=data | {"attached_custom_fields": fields})
    return {"share": share["id"], "price": share["prices"][0]["id"]}


async def _custom_field(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    made = await workspace.create_custom_field(data={"type": "text", "slug": unique, "name": "Size"})
    return {"custom_field": made["id"]}


async def _customer(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    data = {"email": f"{unique}@example.com", "type": "team", "metadata": {"a": 1}}
    team = await workspace.create_customer(data=data | {"billing_address": {"city": "Paris"}})
    member = {"customer_id": team["id"], "email": f"m-{unique}@example.com"}
    made = await workspace.create_member(data=member)
    session = await workspace.create_customer_session(data={"customer_id": team["id"]})
    return {"team": team["id"], "member": made["id"], "customer_token": session["token"]}


async def _code(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    email = f"{unique}@example.com"
    await workspace.create_customer(data={"email": email})
    await request(workspace.with_token(None), home.tenant, email)
    return {"email": email, "code": await latest_code(home.gateway, email)}


async def _media(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    return {"media": (await upload_image(workspace))["id"]}


async def _unfinished(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    made = await workspace.create_file(data=new_file())
    return {"unfinished": made, "unfinished_parts": await put_parts(workspace, made["upload"], b"content")}


async def _workspace_token(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    made = await workspace.create_workspace_access_token(data={"comment": "a", "scopes": ["shares:read"]})
    return {"workspace_token": made["workspace_access_token"]["id"]}


async def _personal_token(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    made = await user.create_personal_access_token(data={"comment": "a", "scopes": ["shares:read"]})
    return {"personal_token": made["personal_access_token"]["id"]}


async def _oauth_client(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    made = await workspace.create_oauth_client(data=OAUTH_CLIENT)
    return {"oauth_client": made["oauth_client"]["id"]}


async def _webhook_endpoint(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    return {"webhook_endpoint": (await _new_endpoint(home, workspace, WEBHOOK))["id"]}


async def _told_endpoint(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    made = await _new_endpoint(home, workspace, TOLD_WEBHOOK)
    delivery = await add_delivery(workspace, made, home.world.share)
    return {"told_endpoint": made["id"], "webhook_delivery": delivery}


async def _new_endpoint(home: Home, workspace: Any, data: dict[str, Any]) -> Any:
    """A new endpoint, in place of old ones: a workspace has at most 20."""
    kept = {home.world.webhook_endpoint, home.world.told_endpoint}
    listed = (await workspace.list_webhook_endpoints(limit=100))["data"]
    made = sorted((each for each in listed if each["id"] not in kept), key=lambda each: each["created_at"])
    for old in made[:-8]:
        await workspace.delete_webhook_endpoint(id=old["id"])
    return (await workspace.create_webhook_endpoint(data=data))["webhook_endpoint"]


async def _document(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    data = {"documents": [{"text": f"{{ viewer {{ kind }} }} # {unique}"}]}
    made = await workspace.register_oauth_client_documents(id=home.world.oauth_client, data=data)
    return {"oauth_client_document": made["data"][0]["id"]}


async def _application(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    made = await _oauth_client(home, workspace, user, unique)
    await allow(user, home.tenant.user_id, made["oauth_client"])
    listed = (await user.list_authorized_applications(sorting=["-created_at"]))["data"]
    return {"authorized_application": listed[0]["id"]}


async def _browser_session(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    await start_session(home.gateway, home.tenant.user_id, unique)
    listed = (await user.list_browser_sessions(sorting=["-created_at"]))["data"]
    return {"browser_session": listed[0]["id"]}


async def _passkey(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    with suppress(Refused):
        await home.caller(Rest, "delete_totp", home.world).delete_totp()
    return {"passkey": await add_factors(user, home.tenant.user_id)}


async def _guest(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    data = {"email": f"{unique}@example.com", "workspace_id": home.tenant.id}
    return {"workspace_member": (await user.invite_workspace_member(data=data))["id"]}


async def _invitation(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    return {"invitation": await invited_elsewhere(home.gateway.database, home.tenant.user_email)}


async def _workspace(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    made = await user.create_workspace(data={"name": "Another", "slug": f"{home.tenant.slug}-{unique}"})
    return {"workspace": made["id"], "slug": made["slug"]}


async def _session(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    data = {"share_id": home.world.share, "customer_id": home.world.team, "file_size_bytes": 7}
    priced = {"price_amount": 1500, "price_currency": "eur", "created_at": "2026-01-31T09:00:00Z"}
    made = await workspace.create_file_share_session(data=data | priced)
    return {"file_share_session": made["id"]}


async def _payment(home: Home, workspace: Any, user: Any, unique: str) -> dict[str, Any]:
    made = await _session(home, workspace, user, unique)
    data = {"amount": 1500, "currency": "eur", "platform_fee": 100, "at": "2026-01-31T09:05:00Z"}
    payment = await workspace.record_payment(id=made["file_share_session"], data=data)
    return made | {"file_share_payment": payment["id"]}


SUBJECTS: dict[str, Subject] = {
    "update_workspace": _workspace,
    "delete_workspace": _workspace,
    "accept_workspace_invitation": _invitation,
    "decline_workspace_invitation": _invitation,
    "remove_workspace_member": _guest,
    "update_workspace_member": _guest,
    "update_share": _share,
    "delete_share": _share,
    "update_custom_field": _custom_field,
    "delete_custom_field": _custom_field,
    "update_customer": _customer,
    "delete_customer": _customer,
    "create_member": _customer,
    "update_member": _customer,
    "delete_member": _customer,
    "end_portal_session": _customer,
    "update_portal_customer": _customer,
    "create_portal_member": _customer,
    "update_portal_member": _customer,
    "delete_portal_member": _customer,
    "authenticate_portal_code": _code,
    "record_download": _session,
    "complete_file_share_session": _session,
    "expire_file_share_session": _session,
    "record_payment": _session,
    "refund_payment": _payment,
    "complete_file_upload": _unfinished,
    "delete_file": _media,
    "update_workspace_access_token": _workspace_token,
    "delete_workspace_access_token": _workspace_token,
    "update_personal_access_token": _personal_token,
    "delete_personal_access_token": _personal_token,
    "update_oauth_client": _oauth_client,
    "rotate_oauth_client_secret": _oauth_client,
    "delete_oauth_client": _oauth_client,
    "update_webhook_endpoint": _webhook_endpoint,
    "rotate_webhook_endpoint_secret": _webhook_endpoint,
    "delete_webhook_endpoint": _webhook_endpoint,
    "test_webhook_endpoint": _told_endpoint,
    "redeliver_webhook_endpoint": _told_endpoint,
    "redeliver_webhook_delivery": _told_endpoint,
    "delete_oauth_client_document": _document,
    "revoke_authorized_application": _application,
    "delete_browser_session": _browser_session,
    "delete_totp": _passkey,
    "update_passkey": _passkey,
    "delete_passkey": _passkey,
}
