"""An application that people can connect, and its way through the protocol without a browser."""

from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import UUID

from joserfc import jwt
from joserfc.jwk import KeySet
from sqlalchemy import select, update

from oauth.credentials import digest
from oauth.provider.authorization import RefusedRequest, read_request
from oauth.provider.subjects import find_subject
from oauth.scopes import CLIENT_SCOPES
from resolvers.credentials.oauth_clients import create_client
from schema.credentials.oauth_clients import OAuthClientCreate
from storage.clock import now
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow
from tests.support.servers.gateways import Gateway, Tenant, bearer

ISSUER = "http://gateway"
REDIRECT_URI = "https://app.example.com/callback"
VERIFIER = "a-verifier-of-43-to-128-unreserved-characters-0123456789"
CHALLENGE = urlsafe_b64encode(sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
PKCE = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}

_credentials = table_of(CredentialRow)


@dataclass(frozen=True)
class Application:
    """A client with its secret; a public one has none."""

    gateway: Gateway
    id: UUID
    client_id: str
    secret: str | None
    redirect_uri: str = REDIRECT_URI

    @property
    def credentials(self) -> dict[str, str]:
        """How it names and proves itself in a form."""
        named = {"client_id": self.client_id}
        return named if self.secret is None else named | {"client_secret": self.secret}

    def query(self, **changes: str | None) -> dict[str, str]:
        """The parameters of a good authorization request, with changes; None leaves one out."""
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": "openid shares:write",
            "state": "the state",
            **(PKCE if self.secret is None else {}),
        }
        return {name: value for name, value in {**asked, **changes}.items() if value is not None}

    def address(self, **changes: str | None) -> str:
        """The page on which a user allows such a request."""
        return f"/oauth2/authorize?{urlencode(self.query(**changes))}"

    async def authorize(
        self, tenant: Tenant, *, workspace: str | None = "own", **changes: str | None
    ) -> dict[str, str]:
        """What the client is told when the tenant's user allows it: the parameters of the redirect."""
        asked_for = list(self.query(**changes).items())
        async with self.gateway.database.write() as connection:
            try:
                asked = await read_request(connection, ISSUER, asked_for)
            except RefusedRequest as answered:
                return told(answered.location)
            workspace_id = None if asked.is_of_user else UUID(tenant.id if workspace == "own" else workspace)
            subject = await find_subject(
                connection, UUID(tenant.user_id), workspace_id, authenticated_at=now(), hold=True
            )
            assert subject is not None
            return told(await asked.allow(subject))

    async def code(self, tenant: Tenant, **changes: str | None) -> str:
        return (await self.authorize(tenant, **changes))["code"]

    async def post(self, endpoint: str, form: dict[str, Any], **headers: str) -> Any:
        return await self.gateway.client.post(f"/api/oauth2/{endpoint}", data=form, headers=headers)

    async def exchange(self, code: str, **changes: str | None) -> Any:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            **self.credentials,
            **({"code_verifier": VERIFIER} if self.secret is None else {}),
            **changes,
        }
        return await self.post("token", {name: value for name, value in form.items() if value is not None})

    async def refresh(self, refresh_token: str, **changes: str) -> Any:
        form = {"grant_type": "refresh_token", "refresh_token": refresh_token, **self.credentials, **changes}
        return await self.post("token", form)

    async def tokens(self, tenant: Tenant, **changes: str | None) -> dict[str, Any]:
        """A whole flow: what the exchange of a new code gives."""
        answer = await self.exchange(await self.code(tenant, **changes))
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body

    async def age(self, text: str, by: timedelta) -> None:
        """Let a code or token be as if it had been issued that much earlier."""
        async with self.gateway.database.write() as connection:
            found = await connection.execute(select(_credentials).where(_credentials.c.hash == digest(text)))
            row = found.mappings().one()
            moments = {name: row[name] - by for name in ("created_at", "expires_at")}
            await connection.execute(
                update(_credentials).where(_credentials.c.hash == digest(text)).values(**moments)
            )

    async def reach(self, access_token: str) -> int:
        """The status of a call of the API with the token."""
        return int((await self.gateway.client.get("/api/viewer", headers=bearer(access_token))).status_code)


async def make_application(
    gateway: Gateway, owner: UUID | None = None, maker: UUID | None = None, **values: Any
) -> Application:
    """A new application, which the workspace `owner` looks after and the user `maker` created."""
    data = {"name": "Bookkeeper", "redirect_uris": [REDIRECT_URI], "scopes": sorted(CLIENT_SCOPES), **values}
    async with gateway.database.write() as connection:
        secret, row = await create_client(
            connection, OAuthClientCreate(**data), workspace_id=owner, maker_user_id=maker
        )
    return Application(gateway, row.id, row.client_id, secret, data["redirect_uris"][0])


def told(location: str) -> dict[str, str]:
    """The parameters with which the browser is sent back."""
    return dict(parse_qsl(urlsplit(location).query, keep_blank_values=True))


async def claims_of(gateway: Gateway, id_token: str) -> dict[str, Any]:
    """The claims of an id_token whose signature fits a published key."""
    published = (await gateway.client.get("/.well-known/jwks.json")).json()
    decoded = jwt.decode(id_token, KeySet.import_key_set(published), algorithms=["RS256"])
    assert decoded.header["kid"] in {key["kid"] for key in published["keys"]}
    claims: dict[str, Any] = decoded.claims
    return claims


def error_of(answer: Any) -> tuple[int, str]:
    body = answer.json()
    assert body.keys() == {"error", "error_description"}
    assert " " in body["error_description"]
    assert answer.headers["cache-control"] == "no-store"
    return answer.status_code, body["error"]
