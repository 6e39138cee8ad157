"""The class of each column with texts, JSON or bytes: what it may hold, and so how it is protected.

Other columns have ids, moments, numbers and switches, which are internal.
"""

from enum import StrEnum


class DataClass(StrEnum):
    PUBLIC = "public"
    INTERNAL = "internal"
    CONFIDENTIAL = "confidential"
    PERSONAL = "personal"
    SECRET = "secret"  # noqa: S105


PROTECTIONS = {
    DataClass.PUBLIC: "Shown to everyone: in a catalogue of the portal, on a page or by OAuth.",
    DataClass.INTERNAL: "Words, states, sums and keys of the gateway: nothing that a person wrote.",
    DataClass.CONFIDENTIAL: "What a workspace or user wrote, for that one only: every statement names it. "
    "It ends with the workspace, user or client, and is in no log line.",
    DataClass.PERSONAL: "As confidential, and about a person: overwritten when the customer is anonymized, "
    "deleted with the user, or after the time in [retention.md](retention.md).",
    DataClass.SECRET: "Never as it is: random texts as their SHA-256, passwords by argon2id, short codes and "
    "addresses as digests keyed by the secret key, and what must be read again sealed by it.",
}

_TEXTS = {
    DataClass.PUBLIC: {
        "oauth_clients": "client_id name client_uri policy_uri tos_uri",
        "passkeys": "public_key",
        "share_prices": "amount_type price_currency",
        "shares": "name name_folded description visibility",
        "signing_keys": "kid public_key",
        "workspaces": "name name_folded slug avatar_url email website socials",
    },
    DataClass.INTERNAL: {
        "changes": "kind actor_kind",
        "credentials": "kind scopes authorization_digest",
        "customers": "type",
        "deletions": "resource",
        "discarded_objects": "path upload_id",
        "event_counts": "period",
        "event_deltas": "source",
        "event_names": "source",
        "events": "source cost_currency",
        "file_parts": "checksum_sha256_base64",
        "file_share_payments": "currency",
        "file_share_refunds": "currency",
        "file_share_sessions": "status price_currency",
        "files": "path mime_type service version upload_id storage_version checksum_etag "
        "checksum_sha256_base64 checksum_sha256_hex",
        "idempotency_keys": "subject operation digest answer",
        "list_total_deltas": "list value",
        "list_totals": "list value",
        "mailed_links": "purpose",
        "members": "role",
        "metric_deltas": "kind currency",
        "metric_facts": "kind currency",
        "metric_money_cells": "currency",
        "metric_packs": "totals busiest together others",
        "metric_person_cells": "persons",
        "metric_share_packs": "hours",
        "oauth_client_documents": "hash root_fields",
        "oauth_clients": "scopes token_endpoint_auth_method document_mode",
        "oauth_consents": "reach scopes",
        "oauth_grants": "scopes code_challenge",
        "passkeys": "transports",
        "portal_codes": "visitor_tries",
        "second_steps": "authorization_digest",
        "storage_usage": "row_quotas",
        "webhook_attempts": "code scopes",
        "webhook_deliveries": "kind status",
        "webhook_endpoints": "kinds scopes disabled_reason maker_kind",
        "usage_counts": "client_kind surface name kind",
        "workspace_members": "role dashboard",
        "workspaces": "status default_presentment_currency",
    },
    DataClass.CONFIDENTIAL: {
        "credentials": "comment",
        "custom_fields": "type slug name metadata properties",
        "customer_sessions": "return_url",
        "event_counts": "name",
        "event_deltas": "name",
        "event_names": "name",
        "events": "name",
        "files": "name name_folded",
        "idempotency_keys": "key",
        "oauth_client_documents": "name text",
        "oauth_clients": "redirect_uris",
        "oauth_grants": "redirect_uri nonce",
        "passkeys": "name credential_id",
        "shares": "metadata",
        "webhook_endpoints": "url description document",
        "workspaces": "details feature_settings notification_settings customer_email_settings "
        "customer_portal_settings return_url_schemes timezone language",
    },
    DataClass.PERSONAL: {
        "credentials": "user_agent address",
        "customers": "external_id email email_folded name name_folded billing_address metadata language",
        "events": "external_id external_customer_id external_member_id metadata",
        "external_persons": "external_id",
        "file_share_downloads": "external_id",
        "file_share_payments": "external_id",
        "file_share_refunds": "external_id",
        "file_share_sessions": "external_id external_customer_id",
        "mailed_links": "recipient",
        "mails": "recipient subject text html",
        "members": "email email_folded name external_id",
        "users": "email email_folded name language",
        "webhook_attempts": "request_headers request_body response_headers response_body",
        "workspace_members": "email email_folded",
    },
    DataClass.SECRET: {
        "answered_challenges": "hash",
        "credentials": "hash",
        "customer_sessions": "recipient",
        "idempotency_keys": "sealed",
        "mailed_links": "hash",
        "portal_codes": "recipient hash visitor",
        "recovery_codes": "hash",
        "refresh_answers": "hash sealed",
        "second_steps": "hash password_digest",
        "sign_in_attempts": "subject",
        "signing_keys": "private_key",
        "totp_secrets": "sealed",
        "users": "password_hash",
        "webhook_secrets": "sealed",
    },
}

# By table and column; each column once, which a test checks.
CLASSES = [
    (table, column, data_class)
    for data_class, tables in _TEXTS.items()
    for table, columns in tables.items()
    for column in columns.split()
]
