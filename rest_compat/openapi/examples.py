"""Examples of bodies and parameters. They run as printed on the workspace `demo`, whatever its ids are.

An id in one is a placeholder: only adding a member and completing an upload need one.
"""

from typing import Any

from oauth.scopes import Scope
from storage.changes.kinds import ChangeKind
from storage.enums import CustomFieldType, FileService, MemberRole, PriceAmountType, WorkspaceRole

PLACEHOLDER = "3f2b8c1e-5d7a-4e9b-8a60-1c4d2e7f9b35"
_DATES = {"start_date": "2026-01-01", "end_date": "2026-03-31"}
_CALLBACK = "https://app.example.com/callback"
_PART = {"number": 1, "chunk_start": 0, "chunk_end": 11}

# By the name of a required parameter of a query or a path; ids in paths have none.
PARAMETERS: dict[str, Any] = {**_DATES, "interval": "month", "external_id": "reader-1001"}

# By the name of the operation.
BODIES: dict[str, Any] = {
    "create_workspace": {"name": "Tiny studio", "slug": "tiny-studio"},
    "copy_workspace": {"name": "Tiny studio, to try things in"},
    "update_workspace": {"website": "https://example.com"},
    "invite_workspace_member": {"email": "sam@example.com", "role": WorkspaceRole.MEMBER.value},
    "update_workspace_member": {"role": WorkspaceRole.OWNER.value},
    "create_share": {
        "name": "Field guide",
        "description": "Sixty birds of the coast.",
        "prices": [{"amount_type": PriceAmountType.FIXED.value, "price_amount": 1900}],
        "metadata": {"collection": "coast"},
    },
    "update_share": {"name": "Field guide, second edition"},
    "create_custom_field": {"type": CustomFieldType.TEXT.value, "slug": "engraving", "name": "Engraving"},
    "update_custom_field": {"name": "Text to engrave"},
    "create_customer": {
        "email": "ada@example.com",
        "name": "Ada Larsen",
        "external_id": "reader-2001",
        "billing_address": {"country": "DK", "city": "Aarhus"},
    },
    "update_customer": {"name": "Ada Larsen-Holm"},
    "create_member": {"customer_id": PLACEHOLDER, "email": "bo@example.com", "role": MemberRole.MEMBER.value},
    "update_member": {"name": "Bo Lindgren"},
    "create_customer_session": {"external_customer_id": "reader-1001"},
    "request_portal_code": {"email": "mina@example.com", "slug": "demo"},
    "authenticate_portal_code": {"email": "mina@example.com", "slug": "demo", "code": "ABC234"},
    "update_portal_customer": {"name": "Mina Okafor"},
    "download_portal_file": {"file_id": PLACEHOLDER},
    "create_portal_member": {"email": "kim@example.com"},
    "update_portal_member": {"name": "Kim Olsen"},
    "ingest_events": {
        "events": [
            {"name": "page.viewed", "external_customer_id": "reader-1001", "metadata": {"path": "/birds"}},
            {"name": "picture.made", "cost": {"amount": "0.25", "currency": "usd"}},
        ]
    },
    "create_file_share_session": {
        "file_size_bytes": 48_000,
        "external_customer_id": "reader-1001",
        "price_amount": 1900,
        "price_currency": "usd",
    },
    "record_download": {},
    "record_payment": {"amount": 1900, "currency": "usd"},
    "refund_payment": {"amount": 100},
    "complete_file_share_session": {},
    "expire_file_share_session": {},
    "ingest_file_share_sessions": {
        "sessions": [
            {
                "external_id": "order-1",
                "created_at": "2026-01-31T09:30:00Z",
                "file_size_bytes": 48_000,
                "payments": [{"amount": 1900, "currency": "usd", "at": "2026-01-31T09:31:00Z"}],
                "completed_at": "2026-01-31T09:31:00Z",
            }
        ]
    },
    "create_file": {
        "service": FileService.DOWNLOADABLE.value,
        "name": "notes.txt",
        "mime_type": "text/plain",
        "size": 11,
        "upload": {"parts": [_PART]},
    },
    "complete_file_upload": {
        "id": "upload-id",
        "path": "path-of-the-upload",
        "parts": [{"number": 1, "checksum_etag": "etag", "checksum_sha256_base64": None}],
    },
    "create_workspace_access_token": {
        "comment": "Dashboard",
        "scopes": [Scope.METRICS_READ.value],
        "expires_in": 2_592_000,
    },
    "update_workspace_access_token": {"comment": "Dashboard in the office"},
    "create_personal_access_token": {"comment": "My script", "scopes": [Scope.SHARES_READ.value]},
    "update_personal_access_token": {"comment": "My weekly script"},
    "create_oauth_client": {
        "name": "Bookkeeper",
        "redirect_uris": [_CALLBACK],
        "scopes": [Scope.OPENID.value, Scope.SHARES_READ.value],
    },
    "create_webhook_endpoint": {
        "url": "https://hooks.example.com/duograph",
        "kinds": [ChangeKind.FILE_SHARE_SESSION_PAID.value, ChangeKind.CUSTOMER_CREATED.value],
    },
    "update_webhook_endpoint": {"description": "Books each payment"},
    "redeliver_webhook_endpoint": {"since": "2026-01-31T09:00:00Z"},
    "update_oauth_client": {"name": "Bookkeeper for studios"},
    "register_oauth_client_documents": {
        "documents": [{"name": "Names", "text": "query Names { shares { data { name } } }"}]
    },
    "update_passkey": {"name": "Laptop"},
    "report_leaks": [
        {"token": "dg_wat_example", "type": "duograph_workspace_token", "url": "https://example.com"}
    ],
}
