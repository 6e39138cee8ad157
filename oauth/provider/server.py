"""The authorization server: Authlib's, in one transaction."""

import logging
from collections.abc import Awaitable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from authlib.oauth2.rfc6749 import AuthorizationServer, InvalidClientError, InvalidRequestError, OAuth2Error
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc9207 import IssuerParameter
from joserfc.jwk import RSAKey
from sqlalchemy.util import await_only

from oauth.credentials import digest, mint
from oauth.provider.clients import AuthMethod, Client, GrantType, find_client
from oauth.provider.issued_tokens import IssuedCredential
from oauth.provider.protocol import ProtocolRequest, Reply
from oauth.scopes import CLIENT_SCOPES
from storage.clock import now
from storage.engine.connections import Connection
from storage.enums import CredentialKind
from storage.rows.rows import insert_row, update_row
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_grants import OAuthGrantRow

ACCESS_TOKEN_LIFE = timedelta(hours=1)
REFRESH_TOKEN_LIFE = timedelta(days=60)

# Descriptions of errors for which Authlib has none.
_DESCRIPTIONS = {
    "invalid_grant": "The code or token is unknown, expired or revoked, or belongs to another client.",
    "unsupported_grant_type": f"grant_type must be {' or '.join(GrantType)}.",
    "unauthorized_client": "The client is not allowed to do this.",
}
_DEFAULT_DESCRIPTION = "The request cannot be processed."

Result = TypeVar("Result")

# At DEBUG Authlib logs the tokens that it issues.
logging.getLogger("authlib").setLevel(logging.INFO)


def wait(work: Awaitable[Result]) -> Result:
    """The result of an asynchronous call in Authlib's code, which runs in `run_sync`."""
    return await_only(work)


class Server(AuthorizationServer):  # type: ignore[misc]
    """One request's server. Its writes are committed with the transaction, also after a refusal.

    `key` signs id_tokens; only exchanging a code requires one.
    """

    def __init__(self, connection: Connection, issuer: str, key: RSAKey | None = None) -> None:
        super().__init__(scopes_supported=sorted(CLIENT_SCOPES))
        self.connection = connection
        self.issuer = issuer
        self.key = key
        generator = BearerTokenGenerator(
            _minter(CredentialKind.ACCESS_TOKEN),
            _minter(CredentialKind.REFRESH_TOKEN),
            int(ACCESS_TOKEN_LIFE.total_seconds()),
        )
        self.register_token_generator("default", generator)
        self._issuer_parameter = _Issuer(issuer)
        self._issuer_parameter(self)

    def query_client(self, client_id: str) -> Client | None:
        return wait(find_client(self.connection, client_id))

    def authenticate_client(
        self, request: ProtocolRequest, methods: Sequence[str], endpoint: str = "token"
    ) -> Client:
        """Raises `InvalidClientError` with a description of what is missing or wrong."""
        try:
            client: Client = super().authenticate_client(request, methods, endpoint)
        except InvalidClientError as error:
            error.description = self._explain_refusal(request, methods)
            raise
        return client

    def get_token_grant(self, request: ProtocolRequest) -> Any:
        """Raises `InvalidRequestError` for a request without a grant_type (RFC 6749 5.2)."""
        if not request.payload.grant_type:
            raise InvalidRequestError("grant_type is missing.")
        return super().get_token_grant(request)

    def handle_error_response(self, request: ProtocolRequest, error: OAuth2Error) -> Reply:
        """The protocol's error, always with a description."""
        error.description = error.description or _DESCRIPTIONS.get(error.error, _DEFAULT_DESCRIPTION)
        reply: Reply = super().handle_error_response(request, error)
        return reply

    def save_token(self, token: dict[str, Any], request: ProtocolRequest) -> None:
        """Store the hash of a new access token, and that of its refresh token if it is new too."""
        source: IssuedCredential = request.authorization_code or request.refresh_token
        # A refresh gives the token of a confidential client the same new life.
        ends_at = now() + REFRESH_TOKEN_LIFE
        wait(update_row(self.connection, OAuthGrantRow, source.grant, ends_at=ends_at))
        self._keep(CredentialKind.ACCESS_TOKEN, token["access_token"], ACCESS_TOKEN_LIFE, token, source)
        if request.refresh_token is None or request.client.is_public:
            granted = {"scope": " ".join(source.row.scopes)}
            self._keep(
                CredentialKind.REFRESH_TOKEN, token["refresh_token"], REFRESH_TOKEN_LIFE, granted, source
            )

    def send_signal(self, name: str, *arguments: Any, **named: Any) -> None:
        """Does nothing: there are no listeners."""

    def create_oauth2_request(self, request: ProtocolRequest) -> ProtocolRequest:
        return request

    def handle_response(self, status: int, body: Any, headers: list[tuple[str, str]]) -> Reply:
        return Reply(status, body, dict(headers))

    def name_issuer(self, reply: Reply) -> None:
        """Add `iss` to a reply that Authlib did not create."""
        self._issuer_parameter.add_issuer_parameter(self, reply)

    def _explain_refusal(self, request: ProtocolRequest, methods: Sequence[str]) -> str:
        if not request.named_client_id:
            return "The request does not identify the client: send client_id."
        client = self.query_client(request.named_client_id)
        if client is None:
            return "There is no client with this client_id."
        if client.is_public:
            without = "A public client has no secret: send client_id without one."
            return without if AuthMethod.NONE in methods else "A public client cannot use this endpoint."
        return "The client_secret is wrong." if request.has_secret else "The client_secret is missing."

    def _keep(
        self,
        kind: CredentialKind,
        text: str,
        life: timedelta,
        token: dict[str, Any],
        source: IssuedCredential,
    ) -> None:
        grant = source.grant
        is_of_user = grant.workspace_id is None
        row = insert_row(
            self.connection,
            CredentialRow,
            hash=digest(text),
            kind=kind.value,
            workspace_id=grant.workspace_id,
            user_id=grant.user_id if is_of_user else None,
            maker_user_id=None if is_of_user else grant.user_id,
            oauth_client_id=grant.oauth_client_id,
            grant_id=grant.id,
            scopes=sorted(token["scope"].split()),
            expires_at=now() + life,
        )
        wait(row)


class _Issuer(IssuerParameter):  # type: ignore[misc]
    """`iss` in every answer of the authorization endpoint (RFC 9207)."""

    def __init__(self, issuer: str) -> None:
        self._issuer = issuer

    def get_issuer(self) -> str:
        return self._issuer


def _minter(kind: CredentialKind) -> Any:
    def generate(**_: Any) -> str:
        return mint(kind).text

    return generate
