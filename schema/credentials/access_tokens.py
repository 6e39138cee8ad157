"""Access tokens of workspaces and of users. An answer has a token's text only once, at its creation."""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import strawberry
from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError

from oauth.scopes import USER_SCOPES, WORKSPACE_SCOPES, Scope
from schema.accounts.people import CreatedBy, CreatedByFilter
from schema.kit.base import Input, Output, Resource, Update, graphql_input, graphql_type
from schema.kit.fields import CreatedAt, ModifiedAt, WorkspaceId, WorkspaceIdFilter, WorkspaceIdInput
from schema.kit.pages import ListQuery, SortedByCreation
from schema.values.integers import LARGEST_INT
from schema.values.names import NAMED
from schema.values.scalars import Id, Int, Moment


def one_of_scopes(scopes: frozenset[Scope]) -> Callable[[str], str]:
    """A validator of one scope. Scopes are strings, not an enum, so that a new one breaks no client."""
    allowed = ", ".join(sorted(scopes))

    def check(scope: str) -> str:
        if scope not in scopes:
            message = "Input should be one of these scopes: {allowed}"
            raise PydanticCustomError("scope", message, {"allowed": allowed})
        return scope

    return check


def documented_scopes(scopes: frozenset[Scope]) -> Any:
    return Field(json_schema_extra={"enum": list(map(str, sorted(scopes)))})


Comment = Annotated[
    str, Field(min_length=1, max_length=256, description="A note on what the token is for."), NAMED
]
_SCOPES = Field(
    min_length=1,
    max_length=len(Scope),
    description="The token's scopes: no more than those of the credential that creates or changes it.",
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
        description="The number of seconds until the token expires; without it, the token does not expire. "
        "A token cannot create one that outlives it.",
    ),
]


class AccessToken(Resource):
    """The fields of both kinds of access token."""

    created_at: CreatedAt
    modified_at: ModifiedAt
    comment: str
    scopes: Annotated[list[str], Field(description="The token's scopes, in alphabetical order.")]
    expires_at: Annotated[Moment | None, Field(description="The time of expiry; null if it does not expire.")]
    last_used_at: Annotated[
        Moment | None,
        Field(description="The time of the last use, at most a minute behind; null if never used."),
    ]


@graphql_type
class WorkspaceAccessToken(AccessToken):
    """An access token with access to one workspace only."""

    workspace_id: WorkspaceId
    created_by: CreatedBy


@graphql_type
class PersonalAccessToken(AccessToken):
    """An access token that acts as a user, in every workspace of the user."""

    user_id: Id


_TOKEN = Field(description="The access token. Only this answer has it, as only its hash is stored.")


@graphql_type
class WorkspaceAccessTokenCreated(Output):
    """A new access token and its text."""

    token: Annotated[str, _TOKEN]
    workspace_access_token: WorkspaceAccessToken


@graphql_type
class PersonalAccessTokenCreated(Output):
    """A new access token and its text."""

    token: Annotated[str, _TOKEN]
    personal_access_token: PersonalAccessToken


@graphql_input
class WorkspaceAccessTokenCreate(Input):
    """A new access token of a workspace."""

    comment: Comment
    scopes: WorkspaceScopes
    expires_in: ExpiresIn = None
    workspace_id: WorkspaceIdInput = None


@graphql_input
class PersonalAccessTokenCreate(Input):
    """A new access token of the user."""

    comment: Comment
    scopes: UserScopes
    expires_in: ExpiresIn = None


@graphql_input
class WorkspaceAccessTokenUpdate(Update):
    """Changes to an access token.

    Fields left out keep their values; null for `expires_in` removes the expiry.
    """

    clears: ClassVar[frozenset[str]] = frozenset({"expires_in"})
    reads: ClassVar[type[BaseModel] | None] = WorkspaceAccessToken

    comment: strawberry.Maybe[Comment | None]
    scopes: strawberry.Maybe[WorkspaceScopes | None]
    expires_in: strawberry.Maybe[ExpiresIn]


@graphql_input
class PersonalAccessTokenUpdate(Update):
    """Changes to an access token.

    Fields left out keep their values; null for `expires_in` removes the expiry.
    """

    clears: ClassVar[frozenset[str]] = frozenset({"expires_in"})
    reads: ClassVar[type[BaseModel] | None] = PersonalAccessToken

    comment: strawberry.Maybe[Comment | None]
    scopes: strawberry.Maybe[UserScopes | None]
    expires_in: strawberry.Maybe[ExpiresIn]


class WorkspaceAccessTokenQuery(ListQuery):
    """The arguments of the list of workspaces' tokens."""

    workspace_id: WorkspaceIdFilter = None
    created_by: CreatedByFilter = None
    sorting: SortedByCreation = None


class PersonalAccessTokenQuery(ListQuery):
    """The arguments of the list of the user's tokens."""

    sorting: SortedByCreation = None
