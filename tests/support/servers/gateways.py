"""Gateways that tests run, with workspaces and tokens made as an operator makes them."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx

from gateway.app import create_app
from gateway.settings.settings import Settings
from oauth.credentials import Credential
from oauth.scopes import USER_SCOPES, WORKSPACE_SCOPES, Scope
from resolvers.accounts.users import create_user
from resolvers.credentials.browser_sessions import start_browser_session
from resolvers.credentials.tokens import issue_token
from resolvers.workspaces.administration import insert_workspace
from storage.engine.database import Database
from storage.enums import CredentialKind
from tests.support.callers.declared import check_declared, check_problems
from tests.support.databases.own_databases import migrate
from tests.support.servers.citus import read_directly

SECRET = "a secret of the tests, 32 characters"


@dataclass(frozen=True)
class Gateway:
    """A running gateway over one database, whose mails are files in `outbox`."""

    app: Any
    client: httpx.AsyncClient
    database: Database
    outbox: Path


@dataclass(frozen=True)
class Tenant:
    """A workspace made for one test, with its first member and a token of every scope."""

    id: str
    slug: str
    user_id: str
    user_email: str
    token: str
    personal_token: str


# Gateways over one database take each other's mails: all of them put them into one directory.
_outboxes: dict[str, Path] = {}


async def run_gateway(
    database_url: str, objects: Path, *, tracer_provider: Any = None, **settings: Any
) -> AsyncIterator[Gateway]:
    """A migrated gateway, without limits of requests or mails unless `settings` says otherwise."""
    outbox = _outboxes.setdefault(database_url, objects / "outbox")
    app = create_app(
        Settings(
            **{
                "database_url": database_url,
                "object_store": str(objects),
                "outbox": str(outbox),
                "secret_key": SECRET,
                "base_url": "http://gateway/api",
                "rate_limit": 0,
                "rate_limit_restricted": 0,
                "rate_limit_milliseconds": 0,
                "mail_limit_recipient": 0,
                "mail_limit_workspace": 0,
                "mail_limit_user": 0,
                "invitation_limit": 0,
                "access_log": False,
                # A busy machine may take its time.
                "database_statement_seconds": 0,
                "database_lock_seconds": 0,
                # Tests write what was counted when they look at it.
                "usage_seconds": 3600,
                **settings,
            }
        ),
        tracer_provider=tracer_provider,
    )
    database: Database = app.state.services.database
    await migrate(database)
    # The transport waits for whole answers: a stream has what is there, and ends.
    app.state.services.followers.end()
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    # Addresses on this machine are not the gateway's: a request to an object store is a real one.
    elsewhere = {"http://127.0.0.1": httpx.AsyncHTTPTransport(verify=False)}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=transport,
            mounts=elsewhere,
            base_url="http://gateway",
            event_hooks={"response": [check_declared, check_problems]},
        ) as client,
    ):
        yield Gateway(app, client, database, outbox)


async def make_tenant(gateway: Gateway, **values: Any) -> Tenant:
    """A new workspace with a member and tokens, made as an operator makes them."""
    unique = f"w-{uuid4().hex}"
    async with gateway.database.write() as connection:
        user = await create_user(connection, f"{unique}@example.com", "a long password", "Ada")
        workspace = await insert_workspace(connection, user, **{"name": "Acme", "slug": unique, **values})
        token, _ = await issue_token(
            connection,
            CredentialKind.WORKSPACE_TOKEN,
            WORKSPACE_SCOPES,
            workspace_id=workspace.id,
            maker_user_id=user.id,
        )
        personal, _ = await issue_token(
            connection, CredentialKind.PERSONAL_TOKEN, USER_SCOPES, user_id=user.id
        )
    if gateway.database.direct is not None:
        await read_directly(gateway.database, str(workspace.id))
    return Tenant(str(workspace.id), workspace.slug, str(user.id), user.email, token.text, personal.text)


async def make_token(gateway: Gateway, tenant: Tenant, *scopes: Scope) -> str:
    """Another token of the tenant, with just these scopes."""
    return await issue(gateway, CredentialKind.WORKSPACE_TOKEN, scopes, workspace_id=UUID(tenant.id))


async def issue(gateway: Gateway, kind: CredentialKind, scopes: Iterable[Scope], **values: Any) -> str:
    """The text of a new credential, which its issuer could not have got by an operation."""
    async with gateway.database.write() as connection:
        token, _ = await issue_token(connection, kind, scopes, **values)
    return token.text


async def start_session(gateway: Gateway, user_id: str, user_agent: str = "A browser") -> Credential:
    """The credential of a browser in which the user has just signed in."""
    async with gateway.database.write() as connection:
        return await start_browser_session(connection, UUID(user_id), "address:192.0.2.1", user_agent)


def bearer(token: str) -> dict[str, str]:
    """The header of a request with this token."""
    return {"Authorization": f"Bearer {token}"}
