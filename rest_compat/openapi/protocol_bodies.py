"""The bodies of the OAuth endpoints, as documented; the endpoints read and write them themselves."""

from typing import Annotated, Literal, Required
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from oauth.provider.clients import AuthMethod, GrantType
from oauth.provider.grants import OFFERS

_ClientId = Annotated[str, Field(description="The client, unless the `Authorization` header names it.")]
_Secret = Annotated[
    str, Field(description="A confidential client's secret, unless the `Authorization` header has it.")
]
_Scope = Annotated[str, Field(description="Scopes, separated by spaces.")]
_Uri = Annotated[str, Field(json_schema_extra={"format": "uri"})]
_Moment = Annotated[int, Field(description="Seconds since 1970.")]


class TokenRequest(TypedDict, total=False):
    """A code or a refresh token to exchange."""

    grant_type: Required[
        Annotated[
            GrantType,
            Field(
                description="What is exchanged: "
                + ", ".join(f"`{type_}` for {offer.exchanges}" for type_, offer in OFFERS.items())
                + "."
            ),
        ]
    ]
    code: Annotated[str, Field(description="The code, with `authorization_code`.")]
    redirect_uri: Annotated[str, Field(description="The address that the code came to.")]
    code_verifier: Annotated[
        str, Field(description="The text whose SHA-256 was the `code_challenge` (RFC 7636).")
    ]
    refresh_token: Annotated[str, Field(description="The refresh token, with `refresh_token`.")]
    scope: Annotated[str, Field(description="Fewer scopes than granted, with `refresh_token`.")]
    client_id: _ClientId
    client_secret: _Secret


class TokenAnswer(TypedDict, total=False):
    """The tokens. A public client gets another refresh token each time."""

    token_type: Required[Literal["Bearer"]]
    access_token: Required[str]
    expires_in: Required[Annotated[int, Field(description="The seconds until the access token expires.")]]
    scope: Required[_Scope]
    refresh_token: Required[str]
    id_token: Annotated[str, Field(description="The user's identity, with the scope `openid`.")]


class TokenForm(TypedDict, total=False):
    """An access token or a refresh token, and the client that it belongs to."""

    token: Required[str]
    client_id: _ClientId
    client_secret: _Secret


class ClaimedWorkspace(TypedDict):
    """The only workspace that a token has access to."""

    id: UUID
    slug: str
    name: str


class UserInfo(TypedDict, total=False):
    """The user's claims that the token's scopes allow."""

    sub: Required[Annotated[UUID, Field(description="The user's id.")]]
    email: str
    email_verified: bool
    name: str
    workspace: ClaimedWorkspace


class Introspection(TypedDict, total=False):
    """The state of a token; only `active` if it cannot be used, or belongs to another client."""

    active: Required[bool]
    iss: _Uri
    client_id: str
    scope: _Scope
    iat: _Moment
    exp: _Moment
    sub: UUID
    workspace: ClaimedWorkspace
    token_type: Literal["Bearer"]


class ClientMetadata(TypedDict, total=False):
    """A client's metadata (RFC 7591 2). Other fields are ignored."""

    redirect_uris: Required[list[_Uri]]
    client_name: str
    scope: _Scope
    token_endpoint_auth_method: AuthMethod
    grant_types: list[GrantType]
    response_types: list[Literal["code"]]
    client_uri: _Uri
    policy_uri: _Uri
    tos_uri: _Uri


class ClientReplacement(ClientMetadata, total=False):
    """A client's new metadata."""

    client_id: Required[Annotated[str, Field(description="The client's own, as in the path.")]]


class ClientInformation(ClientMetadata, total=False):
    """A registered client, with the token that manages it."""

    client_id: Required[str]
    client_id_issued_at: Required[_Moment]
    registration_access_token: Required[str]
    registration_client_uri: Required[_Uri]
    client_secret: Annotated[str, Field(description="Only in the answer that registers the client.")]
    client_secret_expires_at: Annotated[int, Field(description="0: the secret does not expire.")]


class OAuthError(TypedDict, total=False):
    """The body of a failure (RFC 6749 5.2)."""

    error: Required[str]
    error_description: Annotated[str, Field(description="The reason in words.")]
