"""The `workspaces` and `workspace_members` tables."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlmodel import Field

from storage.clock import now
from storage.enums import Currency, WorkspaceRole, WorkspaceStatus
from storage.tables.base import DirectoryRow
from storage.types import CodePointText, JsonColumn, MomentColumn


class WorkspaceRow(DirectoryRow, table=True):
    __tablename__ = "workspaces"
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
    next_review_threshold: int | None = None
    requests_per_minute: int | None = None


class WorkspaceMemberRow(DirectoryRow, table=True):
    """A member of a workspace, or an invitation: `user_id` is null until the invited user accepts it.

    `joined_at` is null for an invitation, `expires_at` for a member. `invited_by_user_id` is the user who
    sent the invitation, null for the workspace's founder and if unknown.
    """

    __tablename__ = "workspace_members"
    __table_args__ = (
        UniqueConstraint("workspace_id", "email_folded"),
        UniqueConstraint("workspace_id", "user_id"),
    )
    folded: ClassVar[dict[str, str]] = {"email_folded": "email"}
    unique: ClassVar[dict[str, str]] = {"email": "email_folded"}

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    workspace_id: UUID = Field(foreign_key="workspaces.id")
    user_id: UUID | None = Field(default=None, foreign_key="users.id", index=True)
    email: str
    email_folded: str = Field(sa_type=CodePointText, index=True)
    role: str = WorkspaceRole.MEMBER.value
    invited_by_user_id: UUID | None = Field(default=None, foreign_key="users.id")
    joined_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    expires_at: datetime | None = Field(default=None, sa_type=MomentColumn)
