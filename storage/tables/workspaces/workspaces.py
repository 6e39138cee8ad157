"""The `workspaces` and `workspace_members` tables."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import Index, UniqueConstraint, text
from sqlmodel import Field

from storage.clock import now
from storage.enums import Currency, DeletedResource, WorkspaceRole, WorkspaceStatus
from storage.tables.base import ChangedRow, DirectoryRow
from storage.types import CodePointText, JsonColumn, MomentColumn

_EXPIRES = text("expires_at IS NOT NULL")
_ENDED = text("removal_due_at IS NOT NULL")


class WorkspaceRow(ChangedRow, DirectoryRow, table=True):
    """A workspace. Of a deleted one the row remains with its slug, which is never given out again.

    `is_test` is true for a copy that tests run in, null for all others. `removal_due_at` is when the
    background task next looks for what is left of it, null once nothing is.
    """

    __tablename__ = "workspaces"
    __table_args__ = (
        Index("ix_workspaces_removal", "removal_due_at", sqlite_where=_ENDED, postgresql_where=_ENDED),
    )
    folded: ClassVar[dict[str, str]] = {"name_folded": "name"}
    unique: ClassVar[dict[str, str]] = {"slug": "slug"}

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    name: str
    name_folded: str = Field(sa_type=CodePointText)
    slug: str = Field(sa_type=CodePointText, unique=True)
    avatar_url: str | None = None
    email: str | None = None
    website: str | None = None
    socials: list[dict[str, Any]] = Field(default_factory=list, sa_type=JsonColumn)
    status: str = WorkspaceStatus.CREATED.value
    status_changed_at: datetime = Field(default_factory=now, sa_type=MomentColumn)
    details: dict[str, Any] = Field(default_factory=dict, sa_type=JsonColumn)
    details_submitted_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    default_presentment_currency: str = Currency.USD.value
    feature_settings: dict[str, Any] = Field(default_factory=dict, sa_type=JsonColumn)
    notification_settings: dict[str, Any] = Field(default_factory=dict, sa_type=JsonColumn)
    customer_email_settings: dict[str, Any] = Field(default_factory=dict, sa_type=JsonColumn)
    customer_portal_settings: dict[str, Any] = Field(default_factory=dict, sa_type=JsonColumn)
    return_url_schemes: list[str] | None = Field(default=None, sa_type=JsonColumn)
    timezone: str | None = None
    language: str | None = None
    is_test: bool | None = None
    next_review_threshold: int | None = None
    requests_per_minute: int | None = None
    deleted_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    removal_due_at: datetime | None = Field(default=None, sa_type=MomentColumn)


class WorkspaceMemberRow(ChangedRow, DirectoryRow, table=True):
    """A member of a workspace, or an invitation: `user_id` is null until the invited user accepts it.

    `joined_at` is null for an invitation, `expires_at` for a member. `invited_by_user_id` is the user who
    sent the invitation, null for the workspace's founder and if unknown. `dashboard` is how the member has
    arranged the charts of the workspace, null for as they come.
    """

    __tablename__ = "workspace_members"
    __table_args__ = (
        UniqueConstraint("workspace_id", "email_folded"),
        UniqueConstraint("workspace_id", "user_id"),
        Index(
            "ix_workspace_members_expires_at",
            "expires_at",
            sqlite_where=_EXPIRES,
            postgresql_where=_EXPIRES,
        ),
    )
    folded: ClassVar[dict[str, str]] = {"email_folded": "email"}
    unique: ClassVar[dict[str, str]] = {"email": "email_folded"}
    tombstone: ClassVar[DeletedResource | None] = DeletedResource.WORKSPACE_MEMBER

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    workspace_id: UUID = Field(foreign_key="workspaces.id")
    user_id: UUID | None = Field(default=None, foreign_key="users.id", index=True)
    email: str
    email_folded: str = Field(sa_type=CodePointText, index=True)
    role: str = WorkspaceRole.MEMBER.value
    invited_by_user_id: UUID | None = Field(default=None, foreign_key="users.id")
    joined_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    expires_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    dashboard: dict[str, Any] | None = Field(default=None, sa_type=JsonColumn)
