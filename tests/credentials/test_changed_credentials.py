"""What is known of a credential that has changed is not charged, counted, noted or told to anyone."""

from contextlib import AsyncExitStack
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
import structlog
from sqlalchemy import update

from gateway.logs.request_lines import request_lines
from oauth.credentials import digest
from oauth.scopes import WORKSPACE_SCOPES, Scope
from resolvers.operations.declaration import LARGEST_BODY
from storage.clock import now
from storage.engine import pool
from storage.engine.turns import waits
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.workspaces.workspaces import WorkspaceRow
from tests.support.callers.surfaces import Rest
from tests.support.measures.log_lines import own_log_lines
from tests.support.measures.request_log import request_log
from tests.support.measures.usage_reader import Reader
from tests.support.servers.gateways import bearer, make_token
from tests.support.statements.statements import noted

SHARES = "{ shares { data { id } } }"


@pytest.fixture
def ask(gateway):
    """The answer to a list over REST, or to a document."""

    async def send(token, query=None):
        if query is None:
            return await gateway.client.get("/api/shares/", headers=bearer(token))
        return await gateway.client.post("/graphql", json={"query": query}, headers=bearer(token))

    return send


@pytest.fixture
def change(gateway):
    """Change a row as another process does, which tells nobody."""

    async def write(row, condition, **values):
        async with gateway.database.write() as connection:
            await connection.execute(update(table_of(row)).where(condition).values(**values))

    return write


@pytest.fixture
def change_token(change):
    async def write(token, **values):
        await change(CredentialRow, table_of(CredentialRow).c.hash == digest(token), **values)

    return write


@pytest.fixture
def change_workspace(change, tenant):
    async def write(**values):
        await change(WorkspaceRow, table_of(WorkspaceRow).c.id == UUID(tenant.id), **values)

    return write


async def test_a_credential_without_a_row_is_known_no_longer(gateway, tenant, ask, change_workspace):
    for _ in range(2):
        assert (await ask(tenant.token)).status_code == 200
    await change_workspace(deleted_at=now())
    assert (await ask(tenant.token)).status_code == 401
    with noted(gateway.database) as statements:
        assert (await ask(tenant.token)).status_code == 401
    (statement,) = statements
    assert "FROM shares" not in statement


async def test_only_what_a_valid_credential_does_is_counted_and_audited(gateway, tenant, ask, change_token):
    token = await make_token(gateway, tenant, *WORKSPACE_SCOPES)
    reader = Reader(gateway, Rest(gateway.client, gateway.app, tenant.token), tenant)
    audited = f'{{ fileDownload(id: "{uuid4()}") {{ url }} }}'
    for _ in range(2):
        await ask(token, audited)
        await ask(token)
    await change_token(token, scopes=[Scope.SHARES_READ, Scope.FILES_READ])
    with own_log_lines() as lines:
        await ask(token, audited)
    assert [line["outcome"] for line in lines] == ["refused"]
    await change_token(token, scopes=[Scope.SHARES_READ])
    await ask(token)
    assert {(await reader.used())[name] for name in ("Query.fileDownload", "GET /api/shares/")} == {3}
    for query in (None, audited):
        await change_token(token, revoked_at=None)
        await ask(token)
        await change_token(token, revoked_at=now())
        with own_log_lines() as lines:
            assert (await ask(token, query)).status_code == 401
        assert [(line["event"], "credential" in line) for line in lines] == [("access refused", False)]
    assert (await reader.used())["Query.fileDownload"] == 3
    assert (await reader.used())["GET /api/shares/"] == 5


async def test_a_changed_credential_is_charged_as_it_is_now(
    gateway, tenant, ask, change_token, change_workspace
):
    await change_workspace(requests_per_minute=50)
    token = await make_token(gateway, tenant, *WORKSPACE_SCOPES)
    assert [(await ask(token)).headers["RateLimit-Remaining"] for _ in range(2)] == ["49", "48"]
    # As another process notes the use of this minute.
    await change_token(token, last_used_at=now())
    answer = await ask(token)
    assert (answer.headers["RateLimit-Remaining"], answer.headers["RateLimit-Cost"]) == ("47", "1")
    await change_token(token, expires_at=now() + timedelta(days=1))
    assert (await ask(token)).headers["RateLimit-Cost"] == "1"
    await change_token(token, revoked_at=now())
    # The address has no limit here, and that of the workspace is none of a stranger's business.
    answer = await ask(token)
    assert answer.status_code == 401
    assert {name for name in answer.headers if name.startswith("ratelimit")} == {"ratelimit-cost"}


async def test_a_body_is_not_read_on_for_a_changed_credential(gateway, tenant, ask, change_token):
    token = await make_token(gateway, tenant, Scope.SHARES_READ)
    for _ in range(2):
        await ask(token, SHARES)
    await change_token(token, expires_at=now() + timedelta(days=1))

    async def pieces():
        yield b" " * LARGEST_BODY + b" "
        yield f'{{"query": "{SHARES}"}}'.encode()

    headers = {**bearer(token), "Content-Type": "application/json"}
    answer = await gateway.client.post("/graphql", content=pieces(), headers=headers)
    assert answer.status_code == 413


async def test_without_a_database_a_credential_is_looked_up_once_and_named_nowhere(
    gateway, tenant, ask, monkeypatch
):
    if gateway.database.is_sqlite:
        return
    for _ in range(2):
        await ask(tenant.token, SHARES)
    wait = pool.Connections._wait

    async def noted_wait(connections, key):
        try:
            return await wait(connections, key)
        except waits.PoolTimeout:
            structlog.get_logger().info("gave up")
            raise

    monkeypatch.setattr(gateway.app.front, "_lines", request_lines)
    primary = gateway.database.pools["primary"]
    async with AsyncExitStack() as lent:
        # One that a background task has now is waited for: it would be free again during the request.
        for _ in range(primary.size):
            await lent.enter_async_context(gateway.database.read())
        monkeypatch.setattr(waits, "PATIENCE_SECONDS", 0.05)
        monkeypatch.setattr(pool.Connections, "_wait", noted_wait)
        with own_log_lines() as lines, request_log() as requests:
            assert (await ask(tenant.token, SHARES)).status_code == 503
            (line,) = [each for each in requests() if each["path"] == "/graphql"]
    # The statement has waited, and the look-up alone; on a cluster, only that comes before all else.
    gave_up = 1 if gateway.database.is_cluster else 2
    assert [each["event"] for each in lines].count("gave up") == gave_up
    assert not {"credential", "workspace"} & line.keys()
