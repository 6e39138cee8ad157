"""The shapes of access tokens, browser sessions, OAuth clients and authorized applications."""

from oauth.provider.clients import AuthMethod
from resolvers.accounts.shapes import person_of
from resolvers.operations.shapes.shapes import Derived, Shape, of_referenced
from schema.credentials.access_tokens import PersonalAccessToken, WorkspaceAccessToken
from schema.credentials.authorized_applications import AuthorizedApplication
from schema.credentials.browser_sessions import BrowserSession
from schema.credentials.oauth_client_documents import OAuthClientDocument
from schema.credentials.oauth_clients import OAuthClient
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_client_documents import OAuthClientDocumentRow
from storage.tables.credentials.oauth_clients import OAuthClientRow
from storage.tables.credentials.oauth_grants import OAuthConsentRow

_credentials, _clients = table_of(CredentialRow), table_of(OAuthClientRow)
_documents = table_of(OAuthClientDocumentRow)


def _is_public(auth_method: str) -> bool:
    return auth_method == AuthMethod.NONE


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
OAUTH_CLIENT_DOCUMENT = Shape(
    OAuthClientDocument,
    _documents,
    {"root_fields": Derived(lambda names: names or [], (_documents.c.root_fields,))},
)
APPLICATION = Shape(
    AuthorizedApplication,
    table_of(OAuthConsentRow),
    {
        name: of_referenced(_clients.c[name], "oauth_client_id")
        for name in ("client_id", "name", "client_uri")
    },
)
