"""The endpoints that clients call: token, revocation and introspection."""

from collections.abc import Callable
from typing import Any

from authlib.oauth2.rfc6749 import InvalidRequestError, OAuth2Error
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7662 import IntrospectionEndpoint
from joserfc.jwk import RSAKey

from oauth.provider.clients import CONFIDENTIAL_METHODS, AuthMethod, Client
from oauth.provider.grants import make_server
from oauth.provider.issued_tokens import IssuedCredential, find_issued
from oauth.provider.protocol import ProtocolRequest, Reply
from oauth.provider.server import Server, wait
from oauth.provider.subjects import find_subject
from oauth.revocation.grants import end_grants
from storage.clock import now
from storage.engine.connections import Connection
from storage.enums import CredentialKind
from storage.rows.rows import table_of, update_row
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_grants import OAuthGrantRow

_grants = table_of(OAuthGrantRow)
_TOKENS = (CredentialKind.ACCESS_TOKEN, CredentialKind.REFRESH_TOKEN)


class _Tokens:
    """The common part of the endpoints that take a token."""

    server: Server

    def check_params(self, request: ProtocolRequest, client: Client) -> None:
        """No hint is needed: a token's text has its kind."""
        if "token" not in request.form:
            raise InvalidRequestError("token is missing.")

    def query_token(self, token_string: str, token_type_hint: str | None) -> IssuedCredential | None:
        return wait(find_issued(self.server.connection, token_string, *_TOKENS))


class Revocation(_Tokens, RevocationEndpoint):  # type: ignore[misc]
    """RFC 7009: an access token is revoked alone, a refresh token with its whole grant."""

    CLIENT_AUTH_METHODS = tuple(AuthMethod)

    def revoke_token(self, token: IssuedCredential, request: ProtocolRequest) -> None:
        if token.kind is CredentialKind.REFRESH_TOKEN:
            wait(end_grants(self.server.connection, _grants.c.id == token.grant.id))
        elif not token.is_revoked():
            wait(update_row(self.server.connection, CredentialRow, token.row, revoked_at=now()))


class Introspection(_Tokens, IntrospectionEndpoint):  # type: ignore[misc]
    """RFC 7662: the state of a confidential client's own token."""

    CLIENT_AUTH_METHODS = CONFIDENTIAL_METHODS

    def check_permission(self, token: IssuedCredential, client: Client, request: ProtocolRequest) -> bool:
        self._client_id = client.client_id
        return token.check_client(client)

    def introspect_token(self, token: IssuedCredential) -> dict[str, Any]:
        grant, row = token.grant, token.row
        subject = wait(find_subject(self.server.connection, grant.user_id, grant.workspace_id))
        if subject is None:
            return {"active": False}
        claims = {
            "active": True,
            "iss": self.server.issuer,
            "client_id": self._client_id,
            "scope": token.get_scope(),
            "iat": int(row.created_at.timestamp()),
            "exp": int(token.expires_at.timestamp()),
            **subject.claims(()),
        }
        return claims | ({"token_type": "Bearer"} if token.kind is CredentialKind.ACCESS_TOKEN else {})


async def answer_token(
    connection: Connection, issuer: str, key: RSAKey | None, request: ProtocolRequest
) -> Reply:
    """Tokens for a code or a refresh token, or the protocol's error."""
    server = make_server(connection, issuer, key)
    return await _answer(server, request, lambda: server.create_token_response(request))


async def answer_revocation(connection: Connection, issuer: str, request: ProtocolRequest) -> Reply:
    """An empty answer, also for an unknown token (RFC 7009), or the protocol's error."""
    server = make_server(connection, issuer)
    server.register_endpoint(Revocation)
    return await _answer(server, request, lambda: server.create_endpoint_response("revocation", request))


async def answer_introspection(connection: Connection, issuer: str, request: ProtocolRequest) -> Reply:
    """The state of the token, or the protocol's error."""
    server = make_server(connection, issuer)
    server.register_endpoint(Introspection)
    return await _answer(server, request, lambda: server.create_endpoint_response("introspection", request))


async def _answer(server: Server, request: ProtocolRequest, create: Callable[[], Reply]) -> Reply:
    """Authlib's answer; its code is synchronous and waits for ours inside `run_sync`."""
    try:
        request.check()
        return await server.connection.run_sync(lambda _: create())
    except OAuth2Error as error:
        return server.handle_error_response(request, error)
