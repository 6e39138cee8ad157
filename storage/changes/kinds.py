"""The kinds of changes in the change log: the one table of them, which both contracts and the guide show."""

from enum import StrEnum


class ChangeKind(StrEnum):
    """`<resource>.<what happened>`; `description` says when the log has it.

    `resource` is in the singular; of what was ingested, in the plural.
    """

    description: str
    resource: str
    happened: str

    def __new__(cls, value: str, description: str = "") -> "ChangeKind":
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.description = description
        kind.resource, _, kind.happened = value.partition(".")
        return kind

    SHARE_CREATED = "share.created", "A share was created."
    SHARE_UPDATED = "share.updated", "A share, its prices, files or custom fields changed."
    SHARE_ARCHIVED = "share.archived", "A share was archived: it can no longer be purchased."
    SHARE_UNARCHIVED = "share.unarchived", "An archived share can be purchased again."
    CUSTOMER_CREATED = "customer.created", "A customer was created."
    CUSTOMER_UPDATED = "customer.updated", "A customer changed."
    CUSTOMER_DELETED = "customer.deleted", "A customer was deleted."
    MEMBER_CREATED = "member.created", "A member of a customer was created, its owner included."
    MEMBER_UPDATED = "member.updated", "A member of a customer changed."
    MEMBER_DELETED = "member.deleted", "A member was deleted, by itself or with its customer."
    CUSTOM_FIELD_CREATED = "custom_field.created", "A custom field was created."
    CUSTOM_FIELD_UPDATED = "custom_field.updated", "A custom field changed."
    CUSTOM_FIELD_DELETED = "custom_field.deleted", "A custom field was deleted."
    FILE_CREATED = "file.created", "A file was created; its upload has begun."
    FILE_UPLOADED = "file.uploaded", "The upload of a file was completed."
    FILE_DELETED = "file.deleted", "A file was deleted, or its upload was never completed."
    FILE_SHARE_SESSION_CREATED = "file_share_session.created", "A session began."
    FILE_SHARE_SESSION_DOWNLOADED = "file_share_session.downloaded", "A download of a session was recorded."
    FILE_SHARE_SESSION_PAID = "file_share_session.paid", "A payment for a session was recorded."
    FILE_SHARE_SESSION_REFUNDED = "file_share_session.refunded", "A payment for a session was refunded."
    FILE_SHARE_SESSION_COMPLETED = "file_share_session.completed", "A session was completed."
    FILE_SHARE_SESSION_EXPIRED = "file_share_session.expired", "A session expired."
    FILE_SHARE_SESSIONS_INGESTED = (
        "file_share_sessions.ingested",
        "Histories of sessions were imported: one change for each call, with their `count`.",
    )
    EVENTS_INGESTED = "events.ingested", "Events were ingested: one change for each call, with their `count`."
    WORKSPACE_UPDATED = "workspace.updated", "A workspace's own values or settings changed."
    WORKSPACE_STATUS_CHANGED = "workspace.status_changed", "A workspace's status changed."
    WORKSPACE_MEMBER_INVITED = "workspace_member.invited", "An email was invited, or its invitation renewed."
    WORKSPACE_MEMBER_JOINED = "workspace_member.joined", "A user became a member of the workspace."
    WORKSPACE_MEMBER_ROLE_CHANGED = "workspace_member.role_changed", "The role of a member changed."
    WORKSPACE_MEMBER_REMOVED = "workspace_member.removed", "A member was removed, or an invitation ended."
    WORKSPACE_ACCESS_TOKEN_CREATED = "workspace_access_token.created", "A workspace token was created."
    WORKSPACE_ACCESS_TOKEN_UPDATED = "workspace_access_token.updated", "A workspace token changed."
    WORKSPACE_ACCESS_TOKEN_REVOKED = "workspace_access_token.revoked", "A workspace token was revoked."
    WORKSPACE_ACCESS_TOKEN_LEAKED = (
        "workspace_access_token.leaked",
        "A workspace token was found in public, and revoked.",
    )
    OAUTH_CLIENT_CREATED = "oauth_client.created", "An OAuth client of the workspace was created."
    OAUTH_CLIENT_UPDATED = "oauth_client.updated", "An OAuth client of the workspace changed."
    OAUTH_CLIENT_DELETED = "oauth_client.deleted", "An OAuth client of the workspace was deleted."


def kinds_of(resource: str) -> tuple[ChangeKind, ...]:
    """All kinds of the resource."""
    return tuple(kind for kind in ChangeKind if kind.resource == resource)
