"""Issued codes and tokens, with the interface that Authlib expects."""

from datetime import datetime

from authlib.oauth2.rfc6749 import TokenMixin
from authlib.oidc.core import AuthorizationCodeMixin
from sqlalchemy import select

from oauth.credentials import digest, kind_of
from oauth.provider.clients import Client
from storage.clock import now
from storage.engine.connections import Connection
from storage.enums import CredentialKind
from storage.rows.rows import first, one, table_of
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_grants import OAuthGrantRow

_credentials, _grants = table_of(CredentialRow), table_of(OAuthGrantRow)


class IssuedCredential(AuthorizationCodeMixin, TokenMixin):  # type: ignore[misc]
    """A code or token: its row, and the row of its grant."""

    code_challenge_method = "S256"

    def __init__(self, row: CredentialRow, grant: OAuthGrantRow) -> None:
        self.row = row
        self.grant = grant
        self.code_challenge: str | None = grant.code_challenge

    @property
    def kind(self) -> CredentialKind:
        return CredentialKind(self.row.kind)

    def check_client(self, client: Client) -> bool:
        return bool(self.grant.oauth_client_id == client.id)

    @property
    def expires_at(self) -> datetime:
        """The moment of expiry, which every code and token has."""
        if self.row.expires_at is None:
            raise TypeError("This credential does not expire.")
        return self.row.expires_at

    def is_expired(self) -> bool:
        return self.expires_at <= now()

    def is_revoked(self) -> bool:
        return self.row.revoked_at is not None or self.grant.revoked_at is not None

    def get_redirect_uri(self) -> str:
        return str(self.grant.redirect_uri)

    def get_scope(self) -> str:
        return " ".join(self.row.scopes)

    def get_nonce(self) -> str | None:
        return self.grant.nonce

    def get_auth_time(self) -> int:
        authenticated_at: datetime = self.grant.authenticated_at
        return int(authenticated_at.timestamp())


async def find_issued(
    connection: Connection, text: str, *kinds: CredentialKind, lock: bool = False
) -> IssuedCredential | None:
    """The code or token with this text, valid or not; None if it is unknown or of another kind.

    `lock` serializes uses of a grant's codes and tokens. It locks the grant before the rest is read, because
    each use may revoke everything issued under the grant.
    """
    if kind_of(text) not in kinds:
        return None
    mine = _credentials.c.hash == digest(text)
    id = select(_credentials.c.grant_id).where(mine).scalar_subquery()
    grant = await first(connection, OAuthGrantRow, _grants.c.id == id, lock=lock)
    if grant is None:
        return None
    return IssuedCredential(await one(connection, CredentialRow, mine), grant)
