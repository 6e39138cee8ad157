"""OAuth clients: lookup, the permissions that Authlib checks, and their secrets."""

from enum import StrEnum, auto
from uuid import UUID

from authlib.oauth2.rfc6749 import ClientMixin
from sqlalchemy import ColumnElement, select

from oauth.credentials import Credential, digest, is_client_id, mint
from oauth.provider.redirects import matches
from storage.clock import now
from storage.engine.connections import Connection
from storage.enums import CredentialKind
from storage.rows.rows import first, insert_row, table_of, update_rows
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_clients import OAuthClientRow

RESPONSE_TYPE = "code"


class GrantType(StrEnum):
    """What a client can exchange for tokens (RFC 6749 1.3)."""

    AUTHORIZATION_CODE = auto()
    REFRESH_TOKEN = auto()


class AuthMethod(StrEnum):
    """How a client proves itself at the token endpoint (RFC 7591 2); a public client has no secret."""

    CLIENT_SECRET_BASIC = auto()
    CLIENT_SECRET_POST = auto()
    NONE = auto()


CONFIDENTIAL_METHODS = (AuthMethod.CLIENT_SECRET_BASIC, AuthMethod.CLIENT_SECRET_POST)

_clients, _credentials = table_of(OAuthClientRow), table_of(CredentialRow)


class Client(ClientMixin):  # type: ignore[misc]
    """A client's row and the hashes of its secrets, with the interface that Authlib expects."""

    def __init__(self, row: OAuthClientRow, secret_hashes: frozenset[str]) -> None:
        self.id: UUID = row.id
        self.client_id: str = row.client_id
        self.row = row
        self._secret_hashes = secret_hashes

    @property
    def is_public(self) -> bool:
        return bool(self.row.token_endpoint_auth_method == AuthMethod.NONE)

    def get_client_id(self) -> str:
        return self.client_id

    def get_default_redirect_uri(self) -> None:
        """None: every request must name its redirect_uri."""

    def get_allowed_scope(self, scope: str | None) -> str | None:
        """The scopes in alphabetical order; None without any, or if the client may not use one."""
        scopes = set((scope or "").split())
        if not scopes or not scopes <= set(self.row.scopes):
            return None
        return " ".join(sorted(scopes))

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return any(matches(declared, redirect_uri) for declared in self.row.redirect_uris)

    def check_client_secret(self, client_secret: str) -> bool:
        return digest(client_secret) in self._secret_hashes

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        """A public client has no secret; a confidential one may send it in the header or the form."""
        return method == AuthMethod.NONE if self.is_public else method in CONFIDENTIAL_METHODS

    def check_response_type(self, response_type: str) -> bool:
        return response_type == RESPONSE_TYPE

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in list(GrantType)


async def find_client(connection: Connection, client_id: str) -> Client | None:
    """The client with this client_id; None if it is unknown or malformed."""
    if not is_client_id(client_id):
        return None
    present = _clients.c.deleted_at.is_(None)
    row = await first(connection, OAuthClientRow, _clients.c.client_id == client_id, present)
    if row is None:
        return None
    secrets = select(_credentials.c.hash).where(_live(row.id, CredentialKind.CLIENT_SECRET))
    return Client(row, frozenset((await connection.execute(secrets)).scalars()))


async def issue_client_credential(
    connection: Connection,
    kind: CredentialKind,
    oauth_client_id: UUID,
    maker_user_id: UUID | None = None,
) -> Credential:
    """A new secret or registration token of the client; the previous one is revoked."""
    await update_rows(connection, CredentialRow, _live(oauth_client_id, kind), revoked_at=now())
    credential = mint(kind)
    await insert_row(
        connection,
        CredentialRow,
        hash=credential.hash,
        kind=kind.value,
        oauth_client_id=oauth_client_id,
        maker_user_id=maker_user_id,
        scopes=[],
    )
    return credential


def _live(oauth_client_id: UUID, kind: CredentialKind) -> ColumnElement[bool]:
    of_client = _credentials.c.oauth_client_id == oauth_client_id
    return of_client & (_credentials.c.kind == kind.value) & _credentials.c.revoked_at.is_(None)
