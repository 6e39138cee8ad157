"""OAuth clients. An answer has a client's secret only once, at its creation."""

from typing import Annotated, ClassVar

import strawberry
from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError

from oauth.provider.redirects import RULE, is_redirect_uri
from oauth.scopes import CLIENT_SCOPES, Scope
from schema.accounts.people import CreatedBy, CreatedByFilter
from schema.credentials.access_tokens import documented_scopes, one_of_scopes
from schema.kit.base import Input, Output, Resource, Update, graphql_input, graphql_type
from schema.kit.fields import CreatedAt, ModifiedAt, WorkspaceIdFilter
from schema.kit.pages import ListQuery, SortedByCreation
from schema.values.names import NAMED, NOT_OURS
from schema.values.scalars import Bool, Id, Url
from storage.enums import DocumentMode

strawberry.enum(DocumentMode)

MOST_REDIRECT_URIS = 50


def _check_redirect_uri(uri: str) -> str:
    if not is_redirect_uri(uri):
        raise PydanticCustomError("redirect_uri", "{rule}", {"rule": RULE})
    return uri


ClientName = Annotated[
    str,
    Field(
        min_length=1, max_length=256, description="The name that users see when they are asked for consent."
    ),
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
        description="The allowed redirect URIs, compared exactly: https, or http on a loopback address, "
        "where the port may differ.",
    ),
]
_ClientScope = Annotated[str, documented_scopes(CLIENT_SCOPES), AfterValidator(one_of_scopes(CLIENT_SCOPES))]
ClientScopes = Annotated[
    list[_ClientScope],
    Field(min_length=1, max_length=len(Scope), description="The scopes that the client can request."),
]
ClientUri = Annotated[Url | None, Field(description="The URL of the application's website.")]
PolicyUri = Annotated[Url | None, Field(description="The URL of the privacy policy.")]
TosUri = Annotated[Url | None, Field(description="The URL of the terms of service.")]
DocumentModeField = Annotated[
    DocumentMode,
    Field(
        description="What happens to GraphQL documents that the client has not registered: `off` runs them, "
        "`report` runs them and lists them among the client's documents, `enforce` refuses and lists them."
    ),
]
_IS_PUBLIC = Field(
    description="Whether the client cannot keep a secret, like an application in a browser or on a phone. "
    "A public client has no secret and must use PKCE."
)


@graphql_type
class OAuthClient(Resource):
    """An application that users can give access to their data."""

    created_at: CreatedAt
    modified_at: ModifiedAt
    client_id: Annotated[str, Field(description="The public OAuth client id, like `dg_ci_...`.")]
    workspace_id: Annotated[
        Id | None, Field(description="The workspace that owns the client; null if a user does.")
    ]
    user_id: Annotated[
        Id | None, Field(description="The user who owns the client; null if a workspace does.")
    ]
    name: ClientName
    is_public: Annotated[bool, _IS_PUBLIC]
    redirect_uris: list[str]
    scopes: Annotated[
        list[str], Field(description="The scopes that the client can request, in alphabetical order.")
    ]
    client_uri: ClientUri
    policy_uri: PolicyUri
    tos_uri: TosUri
    document_mode: DocumentModeField
    created_by: CreatedBy


_SECRET = Field(
    description="The secret; null for a public client. Only this answer has it, as only its hash is stored."
)


@graphql_type
class OAuthClientCreated(Output):
    """A new client and its secret."""

    client_secret: Annotated[str | None, _SECRET]
    oauth_client: OAuthClient


@graphql_input
class OAuthClientCreate(Input):
    """A new client. Without `workspace_id`, the owner is the user or the token's workspace."""

    name: ClientNameInput
    redirect_uris: RedirectUris
    scopes: ClientScopes
    is_public: Annotated[Bool, _IS_PUBLIC] = False
    client_uri: ClientUri = None
    policy_uri: PolicyUri = None
    tos_uri: TosUri = None
    workspace_id: Annotated[Id | None, Field(description="The workspace that is to own the client.")] = None


@graphql_input
class OAuthClientUpdate(Update):
    """Changes to an OAuth client.

    Fields left out keep their values; tokens that were issued before keep their scopes.
    """

    clears: ClassVar[frozenset[str]] = frozenset({"client_uri", "policy_uri", "tos_uri"})
    reads: ClassVar[type[BaseModel] | None] = OAuthClient

    name: strawberry.Maybe[ClientNameInput | None]
    redirect_uris: strawberry.Maybe[RedirectUris | None]
    scopes: strawberry.Maybe[ClientScopes | None]
    client_uri: strawberry.Maybe[ClientUri]
    policy_uri: strawberry.Maybe[PolicyUri]
    tos_uri: strawberry.Maybe[TosUri]
    document_mode: strawberry.Maybe[DocumentModeField | None]


class OAuthClientQuery(ListQuery):
    """The arguments of the list of OAuth clients."""

    workspace_id: WorkspaceIdFilter = None
    created_by: CreatedByFilter = None
    sorting: SortedByCreation = None
