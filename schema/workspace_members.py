"""Members of a workspace and invitations to it, as its members and as the invited users see them."""

from enum import StrEnum
from typing import Annotated

import strawberry
from pydantic import Field

from schema.base import Input, Resource, Update, graphql_input, graphql_type
from schema.fields import CreatedAt, ModifiedAt, WorkspaceId, WorkspaceIdFilter, WorkspaceIdInput
from schema.pages import ListQuery, SortedByCreation
from schema.people import Person
from schema.scalars import Email, Id, Moment, StoredEmail
from storage.enums import WorkspaceRole

strawberry.enum(WorkspaceRole)

Role = Annotated[
    WorkspaceRole,
    Field(
        description="Owners also manage members, invitations, roles, workspace access tokens and OAuth "
        "clients. A workspace always has an owner."
    ),
]
InvitedBy = Annotated[Person | None, Field(description="The user who invited; null if unknown.")]
_ENDS = "When the invitation ends, 7 days after it was sent last"


@strawberry.enum
class WorkspaceMemberStatus(StrEnum):
    """Whether it is a member, an invitation that can be accepted, or one that has expired."""

    INVITED = "invited"
    EXPIRED = "expired"
    ACTIVE = "active"


@graphql_type
class WorkspaceMember(Resource):
    """A user who belongs to a workspace, or an invitation that its user has not accepted."""

    created_at: CreatedAt
    modified_at: ModifiedAt
    workspace_id: WorkspaceId
    user_id: Annotated[Id | None, Field(description="Null for an invitation.")]
    email: StoredEmail
    name: Annotated[str | None, Field(description="The user's name; null for an invitation.")]
    role: Role
    status: WorkspaceMemberStatus
    invited_by: InvitedBy
    joined_at: Annotated[
        Moment | None, Field(description="When the user became a member; null for an invitation.")
    ]
    expires_at: Annotated[Moment | None, Field(description=f"{_ENDS}; null for a member.")]


@graphql_input
class WorkspaceMemberInvite(Input):
    """An address to invite. Its user becomes a member by accepting the invitation within 7 days."""

    email: Email
    role: Role = WorkspaceRole.MEMBER
    workspace_id: WorkspaceIdInput = None


@graphql_input
class WorkspaceMemberUpdate(Update):
    """A field left out keeps its value."""

    role: strawberry.Maybe[Role | None]


class WorkspaceMemberQuery(ListQuery):
    """The filters of a list of workspace members."""

    workspace_id: WorkspaceIdFilter = None
    user_id: Annotated[
        list[Id] | None, Field(max_length=100, description="Only the memberships of these users.")
    ] = None
    sorting: SortedByCreation = None


@graphql_type
class WorkspaceInvitation(Resource):
    """An invitation to the user's confirmed address, which the user can accept or decline."""

    created_at: CreatedAt
    expires_at: Annotated[Moment, Field(description=f"{_ENDS}.")]
    email: Annotated[str, Field(description="The address that was invited.")]
    role: Role
    workspace_id: Annotated[Id, Field(description="The workspace, which is visible only to its members.")]
    workspace_name: str
    workspace_slug: str
    invited_by: InvitedBy


class WorkspaceInvitationQuery(ListQuery):
    """How a list of the user's invitations is read."""

    sorting: SortedByCreation = None
