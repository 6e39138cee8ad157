"""Members of a workspace, as callers see them: users who belong to it, and invitations."""

from enum import StrEnum
from typing import Annotated

import strawberry
from pydantic import Field

from schema.base import Input, Resource, graphql_input, graphql_type
from schema.fields import CreatedAt, WorkspaceId, WorkspaceIdFilter, WorkspaceIdInput
from schema.pages import ListQuery, SortedByCreation
from schema.scalars import Email, Id, StoredEmail


@strawberry.enum
class WorkspaceMemberStatus(StrEnum):
    """Whether the address has a user yet."""

    INVITED = "invited"
    ACTIVE = "active"


@graphql_type
class WorkspaceMember(Resource):
    """A user who belongs to a workspace, or an address that was invited and has no user yet."""

    created_at: CreatedAt
    workspace_id: WorkspaceId
    user_id: Annotated[Id | None, Field(description="Null for an invitation.")]
    email: StoredEmail
    name: Annotated[str | None, Field(description="The user's name; null for an invitation.")]
    status: WorkspaceMemberStatus


@graphql_input
class WorkspaceMemberInvite(Input):
    """An address to invite.

    A user who has it belongs to the workspace at once, others once they have signed up and confirmed it.
    """

    email: Email
    workspace_id: WorkspaceIdInput = None


class WorkspaceMemberQuery(ListQuery):
    """The filters of a list of workspace members."""

    workspace_id: WorkspaceIdFilter = None
    sorting: SortedByCreation = None
