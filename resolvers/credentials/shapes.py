"""The shapes of access tokens, browser sessions, OAuth clients and authorized applications."""

from sqlalchemy import ColumnElement, FromClause, select

from oauth.clients import AuthMethod
from resolvers.accounts.shapes import person_of
from resolvers.operations.shapes import Computed, Derived, Shape
from schema.access_tokens import PersonalAccessToken, WorkspaceAccessToken
from schema.authorized_applications import AuthorizedApplication
from schema.browser_sessions import BrowserSession
from schema.oauth_clients import OAuthClient
from storage.rows import table_of
from storage.tables.credentials import CredentialRow
from storage.tables.oauth_clients import OAuthClientRow
from storage.tables.oauth_grants import OAuthConsentRow

_credentials, _clients = table_of(CredentialRow), table_of(OAuthClientRow)


def _is_public(auth_method: str) -> bool:
    return auth_method == AuthMethod.NONE


def _of_client(name: str) -> Computed:
    """A column of the client that a consent is for."""

    def value(consent: FromClause) -> ColumnElement[str]:
        same = _clients.c.id == consent.c.oauth_client_id
        return select(_clients.c[name]).where(same).correlate(consent).scalar_subquery()

    return Computed(value)


WORKSPACE_TOKEN = Shape(WorkspaceAccessToken, _credentials, {"created_by": person_of("maker_user_id")})
PERSONAL_TOKEN = Shape(PersonalAccessToken, _credentials)
BROWSER_SESSION = Shape(BrowserSession, _credentials)
OAUTH_CLIENT = Shape(
    OAuthClient,
    _clients,
    {
        "is_public": Derived(_is_public, (_clients.c.token_endpoint_auth_method,)),
        "created_by": person_of("maker_user_id"),
    },
)
APPLICATION = Shape(
    AuthorizedApplication,
    table_of(OAuthConsentRow),
    {name: _of_client(name) for name in ("client_id", "name", "client_uri")},
)
