"""Access tokens of workspaces and of users, as callers see them: never their text, but for once."""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import strawberry
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from oauth.scopes import USER_SCOPES, WORKSPACE_SCOPES, Scope
from schema.base import Input, Output, Resource, Update, graphql_input, graphql_type
from schema.fields import CreatedAt, ModifiedAt, WorkspaceId, WorkspaceIdFilter, WorkspaceIdInput
from schema.names import NAMED
from schema.pages import ListQuery, SortedByCreation
from schema.people import CreatedBy, CreatedByFilter
from schema.scalars import LARGEST_INT, Id, Int, Moment


def one_of_scopes(scopes: frozenset[Scope]) -> Callable[[str], str]:
    """A check of one scope; scopes stay strings, so that a new one breaks no client's enum."""
    allowed = ", ".join(sorted(scopes))

    def check(scope: str) -> str:
        if scope not in scopes:
            message = "This is no scope for such a token; there are: {allowed}"
            raise PydanticCustomError("scope", message, {"allowed": allowed})
        return scope

    return check


def documented_scopes(scopes: frozenset[Scope]) -> Any:
    return Field(json_schema_extra={"enum": list(map(str, sorted(scopes)))})


Comment = Annotated[str, Field(min_length=1, max_length=256, description="What the token is for."), NAMED]
_SCOPES = Field(
    min_length=1,
    max_length=len(Scope),
    description="What it may do: at most what the credential may do that makes or changes it.",
)
_WorkspaceScope = Annotated[
    str, documented_scopes(WORKSPACE_SCOPES), AfterValidator(one_of_scopes(WORKSPACE_SCOPES))
]
_UserScope = Annotated[str, documented_scopes(USER_SCOPES), AfterValidator(one_of_scopes(USER_SCOPES))]
WorkspaceScopes = Annotated[list[_WorkspaceScope], _SCOPES]
UserScopes = Annotated[list[_UserScope], _SCOPES]
ExpiresIn = Annotated[
    Int | None,
    Field(
        ge=1,
        le=LARGEST_INT,
        description="Seconds from now until it ends; without, it does not end. A token cannot make one that "
        "outlives it.",
    ),
]


class AccessToken(Resource):
    """What tokens of both kinds tell about themselves."""

    created_at: CreatedAt
    modified_at: ModifiedAt
    comment: str
    scopes: Annotated[list[str], Field(description="What it may do, in alphabetical order.")]
    expires_at: Annotated[Moment | None, Field(description="When it ends; null if it does not.")]
    last_used_at: Annotated[Moment | None, Field(description="At most a minute behind; null if never.")]


@graphql_type
class WorkspaceAccessToken(AccessToken):
    """A token that acts for a workspace, and reaches nothing else."""

    workspace_id: WorkspaceId
    created_by: CreatedBy


@graphql_type
class PersonalAccessToken(AccessToken):
    """A token that acts for a user, in every workspace that the user belongs to."""

    user_id: Id


_TOKEN = Field(description="The token itself, shown this once: we keep only its hash.")


@graphql_type
class WorkspaceAccessTokenCreated(Output):
    """A new token, with its text."""

    token: Annotated[str, _TOKEN]
    workspace_access_token: WorkspaceAccessToken


@graphql_type
class PersonalAccessTokenCreated(Output):
    """A new token, with its text."""

    token: Annotated[str, _TOKEN]
    personal_access_token: PersonalAccessToken


@graphql_input
class WorkspaceAccessTokenCreate(Input):
    """A new token of a workspace."""

    comment: Comment
    scopes: WorkspaceScopes
    expires_in: ExpiresIn = None
    workspace_id: WorkspaceIdInput = None


@graphql_input
class PersonalAccessTokenCreate(Input):
    """A new token of the user."""

    comment: Comment
    scopes: UserScopes
    expires_in: ExpiresIn = None


@graphql_input
class WorkspaceAccessTokenUpdate(Update):
    """A field left out keeps its value; null for `expires_in` lets the token live on."""

    clears: ClassVar[frozenset[str]] = frozenset({"expires_in"})

    comment: strawberry.Maybe[Comment | None]
    scopes: strawberry.Maybe[WorkspaceScopes | None]
    expires_in: strawberry.Maybe[ExpiresIn]


@graphql_input
class PersonalAccessTokenUpdate(Update):
    """A field left out keeps its value; null for `expires_in` lets the token live on."""

    clears: ClassVar[frozenset[str]] = frozenset({"expires_in"})

    comment: strawberry.Maybe[Comment | None]
    scopes: strawberry.Maybe[UserScopes | None]
    expires_in: strawberry.Maybe[ExpiresIn]


class WorkspaceAccessTokenQuery(ListQuery):
    """The filters of a list of workspaces' tokens."""

    workspace_id: WorkspaceIdFilter = None
    created_by: CreatedByFilter = None
    sorting: SortedByCreation = None


class PersonalAccessTokenQuery(ListQuery):
    """How a list of the user's tokens is read."""

    sorting: SortedByCreation = None
