"""One gateway at its most talkative is sent all that callers can send; none of it may be in its log."""

import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import pytest_asyncio
from sqlalchemy import text
from starlette.routing import Mount, Route

from gateway.app import create_app
from gateway.settings.settings import Settings
from oauth.principals import PrincipalKind
from oauth.scopes import Scope
from rest_compat.api import operation_routes
from storage.enums import Currency, DeliveryStatus, WorkspaceRole
from tests.support.browsers.browsing import Browsing
from tests.support.callers.examples import EXAMPLES, PERSONAL
from tests.support.callers.surfaces import GraphQL, Refused, Rest, Surface
from tests.support.callers.world import World, world_of
from tests.support.commands.command import Command
from tests.support.commands.serving import logged, serving
from tests.support.databases.own_databases import own_database
from tests.support.mails.mailed_links import ask_to_sign_up, sign_up_path
from tests.support.measures.recording import Recorder
from tests.support.servers.gateways import SECRET, Gateway, Tenant, make_tenant

pytestmark = pytest.mark.both_databases

FREE_TEXTS = ("name", "comment", "label", "external_id", "description")
BREAKABLE = ("customers", "shares", "custom_fields", "users")
MARKED = re.compile(r"zq[0-9]+xj[0-9a-f]{12}", re.IGNORECASE)
WORDS = [member.value for kind in (Scope, Currency, WorkspaceRole, DeliveryStatus) for member in kind]
OURS = re.compile(rf"[0-9a-f-]{{36}}|\d{{4}}-\d\d-\d\d \S+|True|False|{'|'.join(WORDS)}")
_numbers = count(1)


def marker() -> str:
    """A text like no other in this run."""
    return f"Zq{next(_numbers)}xJ{uuid4().hex[:12]}"


def distinct(value: Any, key: str = "") -> Any:
    """Valid arguments, with free texts and addresses that occur nowhere else."""
    if isinstance(value, dict):
        return {name: distinct(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [distinct(item, key) for item in value]
    if key == "email":
        return f"{marker()}@example.com"
    return marker() if key in FREE_TEXTS and isinstance(value, str) else value


def spoiled(value: Any) -> Any:
    """The arguments with a marker instead of each value, and a field that nothing has."""
    if isinstance(value, dict):
        return {name: spoiled(item) for name, item in value.items()} | {marker(): marker()}
    if isinstance(value, list):
        return [*map(spoiled, value), marker()]
    return marker()


class Site:
    """A served gateway, and its twin in this process that prepares what it is asked for."""

    def __init__(self, command: Command, twin: Gateway, client: httpx.AsyncClient, sent: Recorder) -> None:
        self.command, self.twin, self.client, self.sent = command, twin, client, sent

    def surfaces(self, token: str | None) -> list[Surface]:
        return [kind(self.client, self.twin.app, token) for kind in (Rest, GraphQL)]

    @property
    def log(self) -> str:
        return (self.command.directory / "log").read_text()

    @property
    def own_lines(self) -> list[dict[str, Any]]:
        """The lines that are not of requests and not of libraries."""
        return [line for line in logged(self.command) if line["event"] != "request" and "logger" not in line]


@pytest_asyncio.fixture
async def site(database_url: str, tmp_path: Path) -> AsyncIterator[Site]:
    url = await own_database(database_url, tmp_path)
    limits = {"DUOGRAPH_RATE_LIMIT": "0", "DUOGRAPH_RATE_LIMIT_RESTRICTED": "0"}
    shared = {"DUOGRAPH_DATABASE_URL": url, "DUOGRAPH_SECRET_KEY": SECRET}
    command = Command(tmp_path, {**shared, **limits, "DUOGRAPH_LOG_LEVEL": "debug"})
    with serving(command) as said:
        app = create_app(
            Settings(
                database_url=url,
                object_store=str(tmp_path / "var/objects"),
                outbox=str(tmp_path / "var/outbox"),
                secret_key=SECRET,
                base_url=said["base_url"],
            )
        )
        sent = Recorder(route.path for route in app.routes if isinstance(route, Route | Mount))
        database = app.state.services.database
        async with httpx.AsyncClient(transport=sent, base_url=said["url"]) as client:
            yield Site(command, Gateway(app, client, database, tmp_path / "var/outbox"), client, sent)
        await database.close()


def token_for(operation: str, tenant: Tenant, world: World) -> str | None:
    kinds = operation_routes()[operation].operation.kinds
    if kinds == {PrincipalKind.CUSTOMER_SESSION}:
        return world.customer_token
    return tenant.personal_token if operation in PERSONAL else tenant.token


async def build(site: Site) -> tuple[Tenant, World]:
    tenant = await make_tenant(site.twin, name=site.sent.add(marker()))
    return tenant, await world_of(site.twin, tenant)


async def call_every_operation(
    site: Site, tenant: Tenant, world: World, *, badly: bool = True
) -> Counter[int]:
    """Over both surfaces, well and, if so asked, `badly`; how often each status was answered."""
    statuses: Counter[int] = Counter()
    for operation, arguments in EXAMPLES.items():
        good = distinct(arguments(world))
        for surface in site.surfaces(token_for(operation, tenant, world)):
            asking = surface.with_headers(Idempotency_Key=marker(), Cookie=f"{marker()}={marker()}")
            for each in (good, spoiled(good)) if badly else (good,):
                try:
                    await asking.ask(operation, each)
                    statuses[200] += 1
                except Refused as refused:
                    statuses[refused.status] += 1
    return statuses


async def send_broken_documents(site: Site, tenant: Tenant) -> None:
    """Documents that are refused at every stage, with literals in them."""
    headers = {"Authorization": f"Bearer {tenant.token}"}
    for document in (
        '{{ customers(email: "{0}") {{ data {{ id',
        'mutation {{ authenticatePortalCode(data: {{email: "{0}", slug: "s", code: "{1}"}}) {{ nothing }} }}',
        'mutation {{ authenticatePortalCode(data: {{email: "{0}", slug: "s", code: "{1}"}}) {{ token }} }}',
        "{{ {0}: viewer {{ {1}: nothing }} }}",
        '{{ {0}: share(id: "{1}") {{ id }} }}',
        "query {0}($a: {1}) {{ viewer {{ kind }} }}",
        "{{ ...{0} }} # {1}",
        "{{ shares(query: {0}) {{ data {{ id }} }} }}",
        '"{0}" {{',
        "{0} ~ {1}",
    ):
        query = document.format(marker(), marker())
        variables = {marker(): marker()}
        await site.client.post("/graphql", json={"query": query, "variables": variables}, headers=headers)
        await site.client.get("/graphql", params={"query": query, "operationName": marker()})
    for start, end in (('{"query": "', ""), ('["', '"]'), ("", ""), ('{"query": 1, "a": "', '"}')):
        for path in ("/graphql", "/api/shares/", "/api/events/ingest"):
            kind = {"Content-Type": "application/json"}
            await site.client.post(path, content=start + marker() + end, headers=headers | kind)


async def send_broken_requests(site: Site, tenant: Tenant) -> None:
    """Credentials, paths and parameters of the OAuth endpoints that nothing knows."""
    for credential in (f"Bearer {marker()}", f"Bearer dg_wat_{marker()}", f"Basic {marker()}", marker()):
        for path in ("/api/shares/", "/graphql", "/api/oauth2/token", "/api/oauth2/userinfo"):
            await site.client.post(path, headers={"Authorization": credential}, json={"query": "{ a }"})
    for path in (f"/{marker()}", f"/api/{marker()}", f"/api/shares/{marker()}", f"/media/{marker()}"):
        for method in ("GET", "PUT", "POST", marker().upper()):
            headers = {"Authorization": f"Bearer {tenant.token}", "X-Forwarded-For": marker()}
            await site.client.request(method, path, params={marker(): marker()}, headers=headers)
    for grant in ("authorization_code", "refresh_token", "client_credentials", marker()):
        names = ("code", "refresh_token", "client_id", "client_secret", "redirect_uri", "code_verifier")
        form = {name: marker() for name in (*names, "password", "token")} | {"grant_type": grant}
        for endpoint in ("token", "revoke", "introspect"):
            await site.client.post(f"/api/oauth2/{endpoint}", data=form)


async def visit_every_page(site: Site) -> None:
    """Each page with parameters that mean nothing, and with a form that is not ours."""
    names = ("email", "password", "name", "code", "token", "next", "form_token", "state", "id_token_hint")
    for route in site.twin.app.routes:
        if isinstance(route, Route) and not route.path.startswith(("/api", "/graphql")):
            path = re.sub(r"{[^}]*}", lambda _: marker(), route.path)
            asked = {name: marker() for name in (*names, "customer_session_token", "path", "signature")}
            await site.client.get(path, params=asked)
            await site.client.post(path, params=asked, data=asked)


async def fill_in_forms(site: Site, tenant: Tenant) -> None:
    """Sign up, fail to sign in, forget the password, ask for a code: with addresses of their own."""
    browser = Browsing(site.client)
    email = f"{marker()}@example.com"
    await ask_to_sign_up(browser, email)
    await browser.open(await sign_up_path(site.twin.outbox, email))
    await browser.press("Create account", password=marker(), name=marker())
    site.client.cookies.clear()
    await browser.open("/sign-in")
    await browser.press("Sign in", email=tenant.user_email, password=marker())
    await browser.sign_in(tenant.user_email)
    await browser.open("/forgotten-password")
    await browser.press("Email me a link", email=tenant.user_email)


async def break_the_database(site: Site) -> None:
    """From now on rows are refused in words that repeat them, and one that is there cannot be read."""
    unreadable = json.dumps(site.sent.add(marker()))
    async with site.twin.database.write() as connection:
        await connection.execute(text("UPDATE custom_fields SET properties = :it"), {"it": unreadable})
        if site.twin.database.is_sqlite:
            await connection.execute(text("CREATE TABLE broken (never INTEGER CHECK (never = 0))"))
        for table in BREAKABLE:
            if not site.twin.database.is_sqlite:
                await connection.execute(text(f"ALTER TABLE {table} ADD CHECK (false) NOT VALID"))
                continue
            for change in ("INSERT", "UPDATE"):
                await connection.execute(
                    text(
                        f"CREATE TRIGGER {table}_{change} BEFORE {change} ON {table} "
                        "BEGIN INSERT INTO broken VALUES (1); END"
                    )
                )


async def without_ids_of_rows(site: Site) -> str:
    """The log without the ids that name credentials, users and workspaces, which are ids of our own.

    Many of their rows are still there; the operations have deleted others. So it is without what a line of
    the audit log is about, which has ids, moments, switches and words of ours only, once it is done.
    """
    log, lines = site.log, logged(site.command)
    audits = [line for line in lines if line["event"] == "audit"]
    assert {line["outcome"] for line in audits if "about" in line} == {"ok"}
    for about in [line["about"] for line in audits if "about" in line]:
        items = [each for value in about.values() for each in (value if isinstance(value, list) else [value])]
        assert [each for each in items if not OURS.fullmatch(str(each))] == []
        log = log.replace(f'"about": {json.dumps(about)}', "")
    for name in ("credential", "user", "workspace"):
        ids = {line[name] for line in lines if name in line}
        async with site.twin.database.read() as connection:
            rows = await connection.execute(text(f"SELECT id FROM {name}s"))
            there = {str(UUID(str(id))) for id in rows.scalars()}
        assert ids & there
        for id in ids:
            log = log.replace(f'"{name}": "{id}"', "")
    return log


@pytest.mark.long
async def test_nothing_that_is_sent_is_in_the_log_at_any_level(site: Site) -> None:
    tenant, world = await build(site)
    other, other_world = await build(site)
    answered = await call_every_operation(site, tenant, world)
    assert answered[200] > len(EXAMPLES)
    await send_broken_documents(site, tenant)
    await send_broken_requests(site, tenant)
    await visit_every_page(site)
    await fill_in_forms(site, other)
    quiet = [line for line in site.own_lines if line["level"] in ("warning", "error") or "exception" in line]
    assert quiet == [], "a refusal is the line of its request"

    await break_the_database(site)
    failed = await call_every_operation(site, other, other_world, badly=False)
    lines = [line for line in site.own_lines if line["event"] == "unforeseen"]
    assert len(lines) == failed[500] > 8
    stacks = "".join(line["exception"] for line in lines)
    assert "sqlalchemy.exc.IntegrityError" in stacks
    assert "builtins.AttributeError" in stacks
    assert "resolvers/shares/shares.py" in stacks

    log = await without_ids_of_rows(site)
    assert "INSERT INTO customers" in log
    assert len(site.sent.secrets) > 1000
    assert MARKED.findall(log) == []
    unmarked = [secret for secret in site.sent.secrets if not MARKED.search(secret)]
    assert [secret for secret in unmarked if secret in log] == []
