"""Members of workspaces, and invitations to become one."""

from enum import StrEnum
from typing import Annotated, ClassVar

import strawberry
from pydantic import BaseModel, Field

from schema.accounts.people import Person
from schema.kit.base import Input, Resource, Update, graphql_input, graphql_type
from schema.kit.fields import CreatedAt, ModifiedAt, WorkspaceId, WorkspaceIdFilter, WorkspaceIdInput
from schema.kit.pages import ChangesQuery, SortedByChange
from schema.values.scalars import Email, Id, Moment, StoredEmail
from storage.enums import WorkspaceRole

strawberry.enum(WorkspaceRole)

Role = Annotated[
    WorkspaceRole,
    Field(
        description="The role. Owners can also manage members, invitations, roles, workspace access tokens "
        "and OAuth clients. A workspace always has an owner."
    ),
]
RevokeCreated = Annotated[
    bool, Field(description="Whether everything ends that the member created here, tokens included.")
]
InvitedBy = Annotated[Person | None, Field(description="The user who sent the invitation; null if unknown.")]
_EXPIRES = "The time of the invitation's expiry, 7 days after it was last sent"


@strawberry.enum
class WorkspaceMemberStatus(StrEnum):
    """A member (`active`), a pending invitation (`invited`) or an expired one (`expired`)."""

    INVITED = "invited"
    EXPIRED = "expired"
    ACTIVE = "active"


@graphql_type
class WorkspaceMember(Resource):
    """A member of a workspace, or an invitation that has not been accepted."""

    created_at: CreatedAt
    modified_at: ModifiedAt
    workspace_id: WorkspaceId
    user_id: Annotated[Id | None, Field(description="The user's id; null for an invitation.")]
    email: StoredEmail
    name: Annotated[str | None, Field(description="The user's name; null for an invitation.")]
    role: Role
    status: WorkspaceMemberStatus
    invited_by: InvitedBy
    joined_at: Annotated[
        Moment | None, Field(description="The time the user became a member; null for an invitation.")
    ]
    expires_at: Annotated[Moment | None, Field(description=f"{_EXPIRES}; null for a member.")]


@graphql_input
class WorkspaceMemberInvite(Input):
    """An email to invite. The user becomes a member by accepting the invitation within 7 days."""

    email: Email
    role: Role = WorkspaceRole.MEMBER
    workspace_id: WorkspaceIdInput = None


@graphql_input
class WorkspaceMemberUpdate(Update):
    """Changes to a workspace member. Fields left out keep their values."""

    reads: ClassVar[type[BaseModel] | None] = WorkspaceMember

    role: strawberry.Maybe[Role | None]


class WorkspaceMemberQuery(ChangesQuery):
    """The arguments of the list of workspace members."""

    workspace_id: WorkspaceIdFilter = None
    user_id: Annotated[
        list[Id] | None, Field(max_length=100, description="Only the memberships of these users.")
    ] = None
    sorting: SortedByChange = None


@graphql_type
class WorkspaceInvitation(Resource):
    """An invitation to the user's confirmed email, which the user can accept or decline."""

    created_at: CreatedAt
    expires_at: Annotated[Moment, Field(description=f"{_EXPIRES}.")]
    email: Annotated[str, Field(description="The invited email.")]
    role: Role
    workspace_id: Annotated[Id, Field(description="The workspace's id. Only members can read the workspace.")]
    workspace_name: str
    workspace_slug: str
    invited_by: InvitedBy


class WorkspaceInvitationQuery(ChangesQuery):
    """The arguments of the list of the user's invitations."""

    sorting: SortedByChange = None
