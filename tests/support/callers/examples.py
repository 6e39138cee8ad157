"""One good call of every operation, on a workspace that has one of each resource."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from tests.support.callers.world import OAUTH_CLIENT, WEBHOOK, World
from tests.support.tenants.uploads import completion, new_file

Arguments = Callable[[World], dict[str, Any]]
FREE = [{"amount_type": "free"}]

EXAMPLES: dict[str, Arguments] = {
    "get_viewer": lambda world: {},
    "create_workspace": lambda world: {"data": {"name": "Another", "slug": f"w-{uuid4().hex}"}},
    "get_workspace": lambda world: {"id": world.workspace},
    "list_workspaces": lambda world: {"name": "acme"},
    "copy_workspace": lambda world: {"id": world.workspace, "data": {"slug": f"w-{uuid4().hex}"}},
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
        "data": {
            "name": "Another",
            "prices": FREE,
            "workspace_id": world.workspace,
            "medias": [world.media],
            "downloads": [world.download],
        }
    },
    "get_share": lambda world: {"id": world.share},
    "list_shares": lambda world: {"workspace_id": [world.workspace]},
    "update_share": lambda world: {
        "id": world.share,
        "data": {"name": "Annual", "prices": [{"id": world.price}]},
    },
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
    "download_portal_file": lambda world: {
        "id": world.file_share_session,
        "data": {"file_id": world.download},
    },
    "get_portal_member": lambda world: {"id": world.member},
    "list_portal_members": lambda world: {},
    "create_portal_member": lambda world: {"data": {"email": "cy@example.com"}},
    "update_portal_member": lambda world: {"id": world.member, "data": {"name": "Bo"}},
    "delete_portal_member": lambda world: {"id": world.member},
    "get_changes": lambda world: {"workspace_id": world.workspace},
    "get_latest_change": lambda world: {"workspace_id": world.workspace},
    "list_deletions": lambda world: {"workspace_id": [world.workspace]},
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
    "list_file_share_payments": lambda world: {"workspace_id": [world.workspace]},
    "get_file_share_refund": lambda world: {"id": world.file_share_refund},
    "list_file_share_refunds": lambda world: {"workspace_id": [world.workspace]},
    "get_file_share_download": lambda world: {"id": world.file_share_download},
    "list_file_share_downloads": lambda world: {"workspace_id": [world.workspace]},
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
        "compare": "previous",
        "group_by": "currency",
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
    "create_webhook_endpoint": lambda world: {"data": {**WEBHOOK, "workspace_id": world.workspace}},
    "get_webhook_endpoint": lambda world: {"id": world.webhook_endpoint},
    "list_webhook_endpoints": lambda world: {"workspace_id": [world.workspace]},
    "update_webhook_endpoint": lambda world: {"id": world.webhook_endpoint, "data": {"description": "Books"}},
    "rotate_webhook_endpoint_secret": lambda world: {"id": world.webhook_endpoint},
    "list_webhook_deliveries": lambda world: {"workspace_id": [world.workspace]},
    "get_webhook_delivery": lambda world: {"id": world.webhook_delivery},
    "redeliver_webhook_delivery": lambda world: {"id": world.webhook_delivery},
    "redeliver_webhook_endpoint": lambda world: {
        "id": world.told_endpoint,
        "data": {"since": "2026-01-31T09:00:00Z"},
    },
    "test_webhook_endpoint": lambda world: {"id": world.told_endpoint},
    "delete_webhook_endpoint": lambda world: {"id": world.webhook_endpoint},
    "list_usage": lambda world: {"workspace_id": [world.workspace]},
    "list_oauth_client_documents": lambda world: {"oauth_client_id": [world.oauth_client]},
    "register_oauth_client_documents": lambda world: {
        "id": world.oauth_client,
        "data": {"documents": [{"text": "{ viewer { scopes } }"}]},
    },
    "delete_oauth_client_document": lambda world: {"id": world.oauth_client_document},
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
    # The last one: whoever calls all of them in order needs the workspace.
    "delete_workspace": lambda world: {"id": world.workspace},
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
} | {"invite_workspace_member", "update_workspace_member", "remove_workspace_member", "delete_workspace"}

# Operations that only a browser in which the user is signed in can do.
IN_A_BROWSER = {name for name in EXAMPLES if any(noun in name for noun in ("passkey", "totp", "factor"))}
# What ends the workspace, and makes another one or joins one elsewhere.
ELSEWHERE = {
    "accept_workspace_invitation",
    "copy_workspace",
    "create_workspace",
    "decline_workspace_invitation",
    "delete_workspace",
}
