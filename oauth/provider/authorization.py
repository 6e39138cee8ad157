"""The authorization request: what a client requests from a user, and the answer to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from authlib.oauth2.rfc6749 import InvalidRequestError, OAuth2Error, UnsupportedResponseTypeError
from joserfc import jwt
from joserfc.errors import JoseError

from oauth.provider.clients import RESPONSE_TYPE, Client, find_client
from oauth.provider.consents import remember
from oauth.provider.grants import CodeGrant, make_server
from oauth.provider.keys import ALGORITHM, every_public_key
from oauth.provider.protocol import Pairs, ProtocolRequest, Reply
from oauth.provider.server import Server
from oauth.provider.subjects import Subject
from storage.engine.connections import Connection

NONE, LOGIN, CONSENT, SELECT_ACCOUNT = "none", "login", "consent", "select_account"
PROMPTS = (NONE, LOGIN, CONSENT, SELECT_ACCOUNT)
OF_USER, OF_WORKSPACE = "user", "workspace"
LONGEST_NONCE = 1024
LONGEST_AGE = 2**31 - 1


class UntrustedRequest(Exception):
    """A request whose client or redirect_uri cannot be trusted: only the user sees the error."""


class RefusedRequest(Exception):
    """A refused request: the browser is redirected to `location`, which the client registered.

    `reason` explains the refusal. `is_silent` requests an answer without any page (`prompt=none`).
    """

    def __init__(self, location: str, reason: str, *, is_silent: bool) -> None:
        super().__init__("The request was refused.")
        self.location = location
        self.reason = reason
        self.is_silent = is_silent


@dataclass(frozen=True)
class AuthorizationRequest:
    """A valid request, in one transaction.

    `is_of_user` requests a token for the user instead of one workspace; `max_age` is how many seconds ago the
    user may have signed in; `hinted_user_id` is the user that the client expects.
    """

    server: Server
    request: ProtocolRequest
    grant: CodeGrant
    client: Client
    redirect_uri: str
    scopes: frozenset[str]
    is_of_user: bool
    prompts: frozenset[str]
    max_age: int | None
    hinted_user_id: UUID | None

    async def allow(self, subject: Subject) -> str:
        """Store the consent and return the redirect address with a code."""
        workspace_id = subject.workspace_id
        await remember(self.server.connection, subject.user_id, self.client.id, workspace_id, self.scopes)
        return await self._answer(subject)

    async def deny(self) -> str:
        """The redirect address with the error `access_denied`."""
        return await self._answer(None)

    def refuse(self, code: str, description: str) -> RefusedRequest:
        """The refusal with this error of OpenID Connect."""
        error = OAuth2Error(description, error=code)
        return _refused(self.server, self.request, self.redirect_uri, error)

    async def _answer(self, subject: Subject | None) -> str:
        def create(_: Any) -> Reply:
            reply: Reply = self.server.create_authorization_response(
                self.request, grant_user=subject, grant=self.grant
            )
            return reply

        reply = await self.server.connection.run_sync(create)
        if reply.location is None:
            raise UntrustedRequest(
                "The application has changed in the meantime. Start again from the application."
            )
        return reply.location


async def read_request(connection: Connection, issuer: str, pairs: Pairs) -> AuthorizationRequest:
    """The request with these parameters. Raises `UntrustedRequest` or `RefusedRequest`."""
    server = make_server(connection, issuer)
    request = ProtocolRequest("GET", pairs)
    try:
        request.check()
    except OAuth2Error as error:
        raise UntrustedRequest(str(error.description)) from None
    client = await find_client(connection, request.payload.client_id or "")
    if client is None:
        raise UntrustedRequest("There is no application with this client_id.")
    try:
        redirect_uri = CodeGrant.validate_authorization_redirect_uri(request, client)
    except OAuth2Error as error:
        raise UntrustedRequest(str(error.description)) from None
    try:
        return await _read(server, request, client, redirect_uri)
    except OAuth2Error as error:
        raise _refused(server, request, redirect_uri, error) from None


async def _read(
    server: Server, request: ProtocolRequest, client: Client, redirect_uri: str
) -> AuthorizationRequest:
    """Raises `OAuth2Error`, which is parameters to the client: it and its redirect_uri are valid."""
    parameters = request.payload.data
    _check_features(parameters)
    grant = server.get_authorization_grant(request)
    await server.connection.run_sync(lambda _: grant.validate_authorization_request())
    hint = parameters.get("id_token_hint")
    return AuthorizationRequest(
        server=server,
        request=request,
        grant=grant,
        client=client,
        redirect_uri=redirect_uri,
        scopes=frozenset(request.scope.split()),
        is_of_user=parameters.get("sub_type") == OF_USER,
        prompts=_read_prompts(parameters.get("prompt")),
        max_age=_read_age(parameters.get("max_age")),
        hinted_user_id=None if hint is None else await _read_hint(server, hint, client),
    )


def _check_features(parameters: Mapping[str, str]) -> None:
    """Raises `OAuth2Error` for request features that we do not support."""
    if "response_type" not in parameters:
        raise InvalidRequestError("response_type is missing.")
    if parameters["response_type"] != RESPONSE_TYPE:
        raise UnsupportedResponseTypeError("", "response_type must be code.")
    for name in ("request", "request_uri", "registration"):
        if name in parameters:
            raise OAuth2Error(f"The parameter {name} is not supported.", error=f"{name}_not_supported")
    if parameters.get("response_mode", "query") != "query":
        raise InvalidRequestError("response_mode must be query.")
    if parameters.get("sub_type", OF_WORKSPACE) not in (OF_USER, OF_WORKSPACE):
        raise InvalidRequestError("sub_type must be user or workspace, the default.")
    if len(parameters.get("nonce", "")) > LONGEST_NONCE:
        raise InvalidRequestError(f"The nonce is longer than {LONGEST_NONCE} characters.")


def _read_prompts(text: str | None) -> frozenset[str]:
    prompts = frozenset((text or "").split())
    if not prompts <= set(PROMPTS) or (NONE in prompts and len(prompts) > 1):
        raise InvalidRequestError(f"prompt must be {NONE}, or one or more of {', '.join(PROMPTS[1:])}.")
    return prompts


def _read_age(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(LONGEST_AGE))):
        raise InvalidRequestError("max_age must be a number of seconds.")
    return int(text)


async def _read_hint(server: Server, hint: str, client: Client) -> UUID:
    """The user of an id_token, if we signed it for this client; it may have expired."""
    keys = await every_public_key(server.connection)
    try:
        claims = jwt.decode(hint, keys, algorithms=[ALGORITHM]).claims
        if claims["iss"] == server.issuer and claims["aud"] == client.client_id:
            return UUID(claims["sub"])
    except (JoseError, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise InvalidRequestError("id_token_hint is not an id_token of this client.")


def _refused(
    server: Server, request: ProtocolRequest, redirect_uri: str, error: OAuth2Error
) -> RefusedRequest:
    error.redirect_uri, error.state = redirect_uri, request.payload.state
    reply: Reply = server.handle_error_response(request, error)
    server.name_issuer(reply)
    is_silent = NONE in request.payload.data.get("prompt", "").split()
    return RefusedRequest(str(reply.location), str(error.description), is_silent=is_silent)
