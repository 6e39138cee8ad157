"""OAuth clients, as their owners see them: never their secret, but for once."""

from typing import Annotated, ClassVar

import strawberry
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from oauth.redirects import RULE, is_redirect_uri
from oauth.scopes import CLIENT_SCOPES, Scope
from schema.access_tokens import documented_scopes, one_of_scopes
from schema.base import Input, Output, Resource, Update, graphql_input, graphql_type
from schema.fields import CreatedAt, ModifiedAt, WorkspaceIdFilter
from schema.names import NAMED, NOT_OURS
from schema.pages import ListQuery, SortedByCreation
from schema.people import CreatedBy, CreatedByFilter
from schema.scalars import Bool, Id, Url

MOST_REDIRECT_URIS = 50


def _check_redirect_uri(uri: str) -> str:
    if not is_redirect_uri(uri):
        raise PydanticCustomError("redirect_uri", "{rule}", {"rule": RULE})
    return uri


ClientName = Annotated[
    str, Field(min_length=1, max_length=256, description="Shown to people who are asked to allow it.")
]
ClientNameInput = Annotated[ClientName, NAMED, NOT_OURS]
RedirectUri = Annotated[
    str,
    Field(min_length=1, max_length=2083, json_schema_extra={"format": "uri"}),
    AfterValidator(_check_redirect_uri),
]
RedirectUris = Annotated[
    list[RedirectUri],
    Field(
        min_length=1,
        max_length=MOST_REDIRECT_URIS,
        description="Where people may be sent back to, each compared exactly: https, or http on loopback, "
        "where the port may differ.",
    ),
]
_ClientScope = Annotated[str, documented_scopes(CLIENT_SCOPES), AfterValidator(one_of_scopes(CLIENT_SCOPES))]
ClientScopes = Annotated[
    list[_ClientScope],
    Field(min_length=1, max_length=len(Scope), description="The most that it may ask people for."),
]
ClientUri = Annotated[Url | None, Field(description="The application's own page.")]
PolicyUri = Annotated[Url | None, Field(description="Its privacy policy.")]
TosUri = Annotated[Url | None, Field(description="Its terms of service.")]
_IS_PUBLIC = Field(
    description="Whether it runs where it can keep no secret, as in a browser or on a phone: it then has "
    "none, and has to use PKCE."
)


@graphql_type
class OAuthClient(Resource):
    """An application that people can connect."""

    created_at: CreatedAt
    modified_at: ModifiedAt
    client_id: Annotated[str, Field(description="Its public name in the protocol, like `dg_ci_...`.")]
    workspace_id: Annotated[Id | None, Field(description="The workspace whose members look after it.")]
    user_id: Annotated[Id | None, Field(description="The user who looks after it, where no workspace does.")]
    name: ClientName
    is_public: Annotated[bool, _IS_PUBLIC]
    redirect_uris: list[str]
    scopes: Annotated[list[str], Field(description="What it may ask for, in alphabetical order.")]
    client_uri: ClientUri
    policy_uri: PolicyUri
    tos_uri: TosUri
    created_by: CreatedBy


_SECRET = Field(description="The secret, shown this once: we keep only its hash. Null for a public client.")


@graphql_type
class OAuthClientCreated(Output):
    """A new client, with its secret."""

    client_secret: Annotated[str | None, _SECRET]
    oauth_client: OAuthClient


@graphql_input
class OAuthClientCreate(Input):
    """A new client. Without a `workspace_id` it is the user's own, or that of the token's workspace."""

    name: ClientNameInput
    redirect_uris: RedirectUris
    scopes: ClientScopes
    is_public: Annotated[Bool, _IS_PUBLIC] = False
    client_uri: ClientUri = None
    policy_uri: PolicyUri = None
    tos_uri: TosUri = None
    workspace_id: Annotated[
        Id | None, Field(description="The workspace whose members are to look after it.")
    ] = None


@graphql_input
class OAuthClientUpdate(Update):
    """A field left out keeps its value. Tokens that were issued before keep theirs."""

    clears: ClassVar[frozenset[str]] = frozenset({"client_uri", "policy_uri", "tos_uri"})

    name: strawberry.Maybe[ClientNameInput | None]
    redirect_uris: strawberry.Maybe[RedirectUris | None]
    scopes: strawberry.Maybe[ClientScopes | None]
    client_uri: strawberry.Maybe[ClientUri]
    policy_uri: strawberry.Maybe[PolicyUri]
    tos_uri: strawberry.Maybe[TosUri]


class OAuthClientQuery(ListQuery):
    """The filters of a list of OAuth clients."""

    workspace_id: WorkspaceIdFilter = None
    created_by: CreatedByFilter = None
    sorting: SortedByCreation = None
