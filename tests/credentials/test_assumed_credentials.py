"""Known credentials are looked up with what they are used for: a request is answered as they permit now."""

import asyncio
from datetime import timedelta
from hashlib import sha256
from uuid import UUID, uuid4

import pytest
import pytest_asyncio
from sqlalchemy import delete, update

from oauth.assumed import Assumed, CredentialChanged
from oauth.credentials import digest
from oauth.principals import Principal, PrincipalKind
from oauth.scopes import USER_SCOPES, WORKSPACE_SCOPES, Scope
from storage.clock import now
from storage.engine.outages import DatabaseUnreachable
from storage.enums import CredentialKind
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow
from tests.support.callers.surfaces import Rest
from tests.support.databases.own_databases import own_database
from tests.support.measures.log_lines import own_log_lines
from tests.support.servers.gateways import bearer, issue, make_tenant, make_token, run_gateway
from tests.support.statements.statements import noted

SHARES = "{ shares(limit: 3) { data { id } } }"
BY_VARIABLE = "query($limit: Int!) { events(limit: $limit) { data { id } } }"
TWO = "{ shares(limit: 3) { data { id } } events(limit: 2) { data { id } } }"
REQUESTS = {
    "a list": ("GET", "/api/shares/", None),
    "a list without an argument that it has": ("GET", "/api/shares/?limit=0", None),
    "what reads nothing": ("GET", "/api/metrics/limits", None),
    "a document": ("POST", "/graphql", {"query": SHARES}),
    "a document with variables": ("POST", "/graphql", {"query": BY_VARIABLE, "variables": {"limit": 2}}),
    "two root fields": ("POST", "/graphql", {"query": TWO}),
    "a change": ("POST", "/api/customers/", {}),
}
CHANGES = {
    "revoked": lambda: {"revoked_at": now()},
    "ended": lambda: {"expires_at": now() - timedelta(seconds=1)},
    "narrowed": lambda: {"scopes": [Scope.FILES_READ]},
    "noted": lambda: {"last_used_at": now()},
}


@pytest.fixture
def ask(gateway):
    """The status of an answer, the codes of its errors, of either surface, and what it cost."""

    async def send(token, request):
        method, path, body = request
        answer = await gateway.client.request(method, path, json=body, headers=bearer(token))
        content = answer.json()
        codes = [error["extensions"]["code"] for error in content.get("errors", ())]
        codes = [content["error"]] if "error" in content else codes
        return answer.status_code, codes, answer.headers["ratelimit-cost"]

    return send


async def change(gateway, token, **values):
    """Change a credential as another process does, which tells nobody."""
    table = table_of(CredentialRow)
    async with gateway.database.write() as connection:
        await connection.execute(update(table).where(table.c.hash == digest(token)).values(**values))


@pytest.mark.parametrize("changed", CHANGES)
async def test_each_request_is_answered_as_its_credential_is_now(gateway, tenant, ask, changed):
    for name, request in REQUESTS.items():
        token = await make_token(gateway, tenant, *WORKSPACE_SCOPES)
        before = [await ask(token, request) for _ in range(2)][-1]
        await change(gateway, token, **CHANGES[changed]())
        after = await ask(token, request)
        if changed == "noted":
            assert after == before, name
        elif changed == "narrowed":
            assert set(after[1]) == {"insufficient_scope"}, name
        else:
            assert after == (401, ["invalid_token"], "1"), name
        assert after == await ask(token, request), name


async def test_what_a_revoked_credential_sends_is_not_kept_for_its_workspace(gateway, tenant, ask):
    text = f"query Q{uuid4().hex} {SHARES}"
    by_hash = {"persistedQuery": {"version": 1, "sha256Hash": sha256(text.encode()).hexdigest()}}
    token = await make_token(gateway, tenant, *WORKSPACE_SCOPES)
    for _ in range(2):
        await ask(token, REQUESTS["a document"])
    await change(gateway, token, **CHANGES["revoked"]())
    sent = ("POST", "/graphql", {"query": text, "extensions": by_hash})
    assert await ask(token, sent) == (401, ["invalid_token"], "1")
    _, codes, _ = await ask(tenant.token, ("POST", "/graphql", {"extensions": by_hash}))
    assert codes == ["persisted_query_not_found"]


async def test_a_user_reads_of_the_workspaces_that_are_theirs_now(gateway, tenant):
    rest = Rest(gateway.client, gateway.app, tenant.token)
    share = await rest.create_share(data={"name": "Tides", "prices": [{"amount_type": "free"}]})
    token = await issue(gateway, CredentialKind.PERSONAL_TOKEN, USER_SCOPES, user_id=UUID(tenant.user_id))

    async def listed():
        return (await gateway.client.get("/api/shares/", headers=bearer(token))).json()["data"]

    for _ in range(2):
        assert [each["id"] for each in await listed()] == [share["id"]]
    members = table_of(WorkspaceMemberRow)
    async with gateway.database.write() as connection:
        await connection.execute(delete(members).where(members.c.user_id == UUID(tenant.user_id)))
    assert await listed() == []


async def test_a_known_credential_and_what_it_reads_are_one_statement(gateway, tenant, ask):
    """On SQLite, where nothing is sent anywhere, they are two, and on a cluster, where they are apart."""
    are_two = gateway.database.is_sqlite or gateway.database.is_cluster
    for name in ("a list", "a document", "a document with variables", "two root fields"):
        for _ in range(2):
            await ask(tenant.token, REQUESTS[name])
        with noted(gateway.database) as statements:
            assert (await ask(tenant.token, REQUESTS[name]))[:2] == (200, [])
        looked_up = [each for each in statements if "FROM credentials" in each]
        assert len(looked_up) == 1, name
        assert are_two or statements == looked_up, name


async def test_a_refused_credential_is_nobody_s_in_the_log(gateway, tenant, ask):
    token = await make_token(gateway, tenant, *WORKSPACE_SCOPES)
    for _ in range(2):
        await ask(token, REQUESTS["a list"])
    await change(gateway, token, revoked_at=now())
    with own_log_lines() as lines:
        await ask(token, REQUESTS["a list"])
    (line,) = lines
    assert line == {
        "event": "access refused",
        "log_level": "info",
        "reason": "invalid_token",
    }


@pytest_asyncio.fixture
async def limited(server_url, tmp_path):
    url = await own_database(server_url, tmp_path)
    async for gateway in run_gateway(url, tmp_path / "objects", rate_limit=100):
        yield gateway


async def test_a_read_that_begins_again_is_charged_once(limited):
    tenant = await make_tenant(limited)

    async def left():
        answer = await limited.client.get("/api/shares/", headers=bearer(tenant.token))
        return int(answer.headers["ratelimit-remaining"])

    before = [await left() for _ in range(3)][-1]
    await change(limited, tenant.token, scopes=[Scope.SHARES_READ])
    assert await left() == before - 1


class Lookups:
    """A stand-in for a database that is asked at most three times, and answers when a test lets it."""

    def __init__(self):
        self.asked = 0
        self.answers = [asyncio.get_running_loop().create_future() for _ in range(3)]
        self.assumed = Assumed(None, self, None, {}, ROW, 1)

    async def fetch(self, *_):
        self.asked += 1
        return await self.answers[self.asked - 1]

    def look_up_twice(self):
        """Two look-ups at once, the earlier first."""
        return [asyncio.create_task(self.assumed.confirm()) for _ in range(2)]


ROW = ("active", "used yesterday", ["shares:read"])


async def test_a_credential_that_was_confirmed_is_not_looked_up_again():
    database, done = Lookups(), []
    for answer in database.answers:
        answer.set_result([("active", "used today", ["shares:read"])])
    await asyncio.gather(*database.look_up_twice())
    database.assumed.once_confirmed(lambda: done.append("afterwards"))
    await database.assumed.confirm()
    assert (done, database.assumed.is_confirmed, database.asked) == (["afterwards"], True, 1)


async def test_what_one_look_up_found_changed_no_other_confirms():
    """A statement that began before the change may answer after one that began later."""
    database, done = Lookups(), []
    database.assumed.once_confirmed(lambda: done.append("never"))
    earlier, later = database.look_up_twice()
    database.answers[1].set_result([])
    with pytest.raises(CredentialChanged):
        await later
    database.answers[0].set_result([ROW])
    await earlier
    assert (done, database.assumed.is_confirmed) == ([], False)
    with pytest.raises(CredentialChanged):
        await database.assumed.confirm()


@pytest.mark.parametrize(
    ("error", "asked"), [(DatabaseUnreachable("away"), 1), (ValueError("broken"), 3)], ids=repr
)
async def test_only_a_database_that_is_away_is_not_asked_again(error, asked):
    database = Lookups()
    for answer in database.answers:
        answer.set_exception(error)
    assert await asyncio.gather(*database.look_up_twice(), return_exceptions=True) == [error] * 2
    with pytest.raises(type(error)):
        await database.assumed.confirm()
    assert database.asked == asked
    # No other test is to be told of answers that nobody has fetched.
    assert all(answer.exception() is error for answer in database.answers)


def test_a_user_asks_about_no_workspace_of_others():
    own, ids = uuid4(), {"credential_id": uuid4(), "user_id": uuid4()}
    user = Principal(PrincipalKind.PERSONAL_TOKEN, scopes=frozenset(), workspace_ids=(own,), **ids)
    assert user.about(own).one_workspace_id == own
    with pytest.raises(ValueError, match="no access"):
        user.about(uuid4())
