"""The shapes of access tokens and browser sessions."""

from resolvers.operations.shapes import Shape
from schema.access_tokens import PersonalAccessToken
from schema.browser_sessions import BrowserSession
from storage.rows import table_of
from storage.tables.credentials import CredentialRow

_credentials = table_of(CredentialRow)

PERSONAL_TOKEN = Shape(PersonalAccessToken, _credentials)
BROWSER_SESSION = Shape(BrowserSession, _credentials)
