"""The grants: exchanging a code for tokens, and a refresh token for an access token."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from authlib.oauth2.rfc6749 import InvalidRequestError, InvalidScopeError
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc7636.challenge import CODE_CHALLENGE_PATTERN
from authlib.oidc.core.grants import OpenIDCode
from joserfc.jwk import RSAKey

from oauth.credentials import digest, mint
from oauth.provider.clients import AuthMethod, Client, GrantType
from oauth.provider.issued_tokens import IssuedCredential, find_issued
from oauth.provider.keys import ALGORITHM
from oauth.provider.protocol import ProtocolRequest
from oauth.provider.refresh_answers import find_answer, keep_answer
from oauth.provider.server import REFRESH_TOKEN_LIFE, Server, wait
from oauth.provider.subjects import Subject, find_subject
from oauth.revocation.grants import end_grants
from storage.clock import now
from storage.engine.connections import Connection
from storage.enums import CredentialKind
from storage.rows.rows import insert_row, table_of, update_row
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_grants import OAuthGrantRow

CODE_LIFE = timedelta(minutes=5)

_grants = table_of(OAuthGrantRow)


class CodeGrant(AuthorizationCodeGrant):  # type: ignore[misc]
    """A code, issued with a user's consent and exchanged once, within five minutes."""

    TOKEN_ENDPOINT_AUTH_METHODS = tuple(AuthMethod)

    server: Server
    request: ProtocolRequest

    @staticmethod
    def validate_authorization_redirect_uri(request: ProtocolRequest, client: Client) -> str:
        """The redirect_uri, if the client registered it. A refusal is shown to the user, never redirected."""
        redirect_uri = request.payload.redirect_uri
        if not redirect_uri:
            raise InvalidRequestError("redirect_uri is missing.")
        if not client.check_redirect_uri(redirect_uri):
            raise InvalidRequestError("The application has not registered this redirect_uri.")
        return str(redirect_uri)

    def generate_authorization_code(self) -> str:
        return mint(CredentialKind.AUTHORIZATION_CODE).text

    def save_authorization_code(self, code: str, request: ProtocolRequest) -> None:
        wait(save_code(self.server, code, request))

    def query_authorization_code(self, code: str, client: Client) -> IssuedCredential | None:
        """The code, if it is valid. A second use of a code revokes everything that its first use issued."""
        issued = wait(find_issued(self.server.connection, code, CredentialKind.AUTHORIZATION_CODE, lock=True))
        if issued is None or not issued.check_client(client):
            return None
        if issued.is_revoked():
            wait(_end(self.server, issued))
            return None
        return None if issued.is_expired() else issued

    def delete_authorization_code(self, authorization_code: IssuedCredential) -> None:
        """Revoke the used code; its row remains, so that a second use is detected."""
        wait(update_row(self.server.connection, CredentialRow, authorization_code.row, revoked_at=now()))

    def authenticate_user(self, authorization_code: IssuedCredential) -> Subject | None:
        return wait(_subject_of(self.server, authorization_code))


class RefreshGrant(RefreshTokenGrant):  # type: ignore[misc]
    """A confidential client keeps its refresh token; a public one's is replaced on each use."""

    TOKEN_ENDPOINT_AUTH_METHODS = tuple(AuthMethod)

    server: Server
    request: ProtocolRequest
    answered: dict[str, Any] | None = None

    def authenticate_refresh_token(self, refresh_token: str) -> IssuedCredential | None:
        """The token, if it is valid, or if it was replaced and its client retries that request.

        Any other use of a replaced token may come from a stolen copy, so its whole grant is revoked, also if
        another client sends it.
        """
        issued = wait(
            find_issued(self.server.connection, refresh_token, CredentialKind.REFRESH_TOKEN, lock=True)
        )
        if issued is None:
            return None
        if not issued.check_client(self.request.client):
            if issued.is_revoked():
                wait(_end(self.server, issued))
            return None
        if issued.is_revoked():
            scope = self.request.payload.scope
            self.answered = wait(find_answer(self.server.connection, refresh_token, issued, scope))
            if self.answered is None:
                wait(_end(self.server, issued))
                return None
        if issued.is_expired() or wait(_subject_of(self.server, issued)) is None:
            return None
        return issued

    def authenticate_user(self, refresh_token: IssuedCredential) -> Subject | None:
        return wait(_subject_of(self.server, refresh_token))

    def create_token_response(self) -> tuple[int, dict[str, Any], list[tuple[str, str]]]:
        """The stored answer of a retry, or a new one, which is stored if it replaces the token."""
        if self.answered is not None:
            return 200, self.answered, self.TOKEN_RESPONSE_HEADER
        status, answer, headers = super().create_token_response()
        if self.request.client.is_public:
            text, scope = self.request.form["refresh_token"], self.request.payload.scope
            replaced = self.request.refresh_token
            wait(keep_answer(self.server.connection, text, replaced, scope, answer))
        return status, answer, headers

    def issue_token(self, user: Subject, refresh_token: IssuedCredential) -> dict[str, Any]:
        """A token with the requested scopes that were granted and that the client may still use."""
        client = self.request.client
        requested = (self.request.payload.scope or refresh_token.get_scope()).split()
        scopes = set(requested) & set(client.row.scopes)
        if not scopes:
            raise InvalidScopeError("The client may no longer use any of these scopes.")
        token: dict[str, Any] = self.generate_token(
            user=user, scope=" ".join(scopes), include_refresh_token=client.is_public
        )
        if not client.is_public:
            token["refresh_token"] = self.request.form["refresh_token"]
        return token

    def revoke_old_credential(self, refresh_token: IssuedCredential) -> None:
        if self.request.client.is_public:
            changes = {"revoked_at": now()}
        else:
            changes = {"expires_at": now() + REFRESH_TOKEN_LIFE, "last_used_at": now()}
        wait(update_row(self.server.connection, CredentialRow, refresh_token.row, **changes))


class S256(CodeChallenge):  # type: ignore[misc]
    """PKCE with S256 only; public clients must use it."""

    SUPPORTED_CODE_CHALLENGE_METHOD = ("S256",)

    def validate_code_challenge(self, grant: CodeGrant, redirect_uri: str) -> None:
        parameters = grant.request.payload.data
        challenge, method = parameters.get("code_challenge"), parameters.get("code_challenge_method")
        if challenge is None and method is None:
            if grant.request.client.is_public:
                raise InvalidRequestError("A public client must send a code_challenge.")
            return
        if method != "S256":
            raise InvalidRequestError("code_challenge_method must be S256.")
        if not CODE_CHALLENGE_PATTERN.fullmatch(challenge or ""):
            raise InvalidRequestError("code_challenge is not the S256 hash of a verifier.")


class IdToken(OpenIDCode):  # type: ignore[misc]
    """The id_token that accompanies the tokens of a code."""

    def __init__(self, server: Server) -> None:
        super().__init__()
        self._server = server

    def get_encode_header(self, client: Client) -> dict[str, str]:
        return {"alg": ALGORITHM, "kid": str(self.resolve_client_private_key(client).kid)}

    def resolve_client_private_key(self, client: Client) -> RSAKey:
        if self._server.key is None:
            raise RuntimeError("Exchanging a code requires a signing key.")
        return self._server.key

    def get_client_claims(self, client: Client) -> dict[str, Any]:
        return {"iss": self._server.issuer, "aud": client.client_id}

    def generate_user_info(self, user: Subject, scope: str) -> dict[str, Any]:
        return user.claims(scope.split())

    def exists_nonce(self, nonce: str, request: ProtocolRequest) -> bool:
        """Always False: a nonce lets the client detect a replayed id_token."""
        return False


@dataclass(frozen=True)
class Offer:
    """The class that answers a type of grant, and what a client exchanges by it, in words."""

    grant: type[CodeGrant | RefreshGrant]
    exchanges: str


OFFERS: Mapping[GrantType, Offer] = {
    GrantType.AUTHORIZATION_CODE: Offer(CodeGrant, "a code"),
    GrantType.REFRESH_TOKEN: Offer(RefreshGrant, "a refresh token"),
}
# What is published and accepted.
GRANT_TYPES = tuple(OFFERS)


def check_offers(types: Iterable[str], offers: Mapping[Any, Offer] = OFFERS) -> None:
    """Raises `TypeError` for the first of `types` that no class answers, or that has no words."""
    for type_ in types:
        offer = offers.get(type_)
        if offer is None or type_ != offer.grant.GRANT_TYPE:
            raise TypeError(f"No class answers the grant type {type_}: add one to OFFERS of {__name__}.")
        if not offer.exchanges:
            raise TypeError(f"Say in OFFERS of {__name__} what a client exchanges by {type_}.")


check_offers(GrantType)


def make_server(connection: Connection, issuer: str, key: RSAKey | None = None) -> Server:
    """A server with every grant that is offered."""
    server = Server(connection, issuer, key)
    extensions: dict[GrantType, list[Any]] = {
        GrantType.AUTHORIZATION_CODE: [S256(required=True), IdToken(server)]
    }
    for type_, offer in OFFERS.items():
        server.register_grant(offer.grant, extensions.get(type_))
    return server


async def save_code(server: Server, code: str, request: ProtocolRequest) -> None:
    """Store the hash of a new code, and its grant."""
    subject: Subject = request.user
    scopes = sorted(request.scope.split())
    parameters, ends_at = request.payload.data, now() + CODE_LIFE
    grant = await insert_row(
        server.connection,
        OAuthGrantRow,
        oauth_client_id=request.client.id,
        user_id=subject.user_id,
        workspace_id=subject.workspace_id,
        scopes=scopes,
        redirect_uri=parameters["redirect_uri"],
        code_challenge=parameters.get("code_challenge"),
        nonce=parameters.get("nonce"),
        authenticated_at=subject.authenticated_at,
        ends_at=ends_at,
    )
    await insert_row(
        server.connection,
        CredentialRow,
        hash=digest(code),
        kind=CredentialKind.AUTHORIZATION_CODE.value,
        workspace_id=subject.workspace_id,
        maker_user_id=subject.user_id,
        oauth_client_id=request.client.id,
        grant_id=grant.id,
        scopes=scopes,
        expires_at=ends_at,
    )


async def _subject_of(server: Server, issued: IssuedCredential) -> Subject | None:
    grant = issued.grant
    return await find_subject(server.connection, grant.user_id, grant.workspace_id)


async def _end(server: Server, issued: IssuedCredential) -> None:
    await end_grants(server.connection, _grants.c.id == issued.grant.id)
