"""Access tokens of workspaces and of users: shown once, never wider than their maker, gone when revoked."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from oauth.scopes import USER_SCOPES, WORKSPACE_SCOPES, Scope
from resolvers.credentials.tokens import issue_token
from storage.enums import CredentialKind
from tests.support.callers.refusals import refusal, refused
from tests.support.callers.surfaces import Refused
from tests.support.measures.spans import span
from tests.support.servers.gateways import issue, make_token

DATA = {"comment": "The nightly report", "scopes": ["metrics:read", "shares:read"]}


@dataclass(frozen=True)
class Tokens:
    """One kind of token's operations, by the same names for both kinds, with a caller who may use them."""

    caller: Any
    noun: str
    credential_kind: CredentialKind
    owner: dict[str, str]

    def by(self, token):
        return Tokens(self.caller.with_token(token), self.noun, self.credential_kind, self.owner)

    def idempotent(self, key):
        caller = self.caller.with_headers(idempotency_key=key)
        return Tokens(caller, self.noun, self.credential_kind, self.owner)

    async def create(self, **data):
        made = await self._call("create", data={**DATA, **data})
        return made["token"], made[self.noun]

    async def get(self, id):
        return await self._call("get", id=id)

    async def update(self, id, **data):
        return await self._call("update", id=id, data=data)

    async def delete(self, id):
        return await self._call("delete", id=id)

    async def list(self, **filters):
        return (await getattr(self.caller, f"list_{self.noun}s")(**filters))["data"]

    async def _call(self, verb, **arguments):
        return await getattr(self.caller, f"{verb}_{self.noun}")(**arguments)


@pytest.fixture(params=["workspace", "personal"])
def tokens(request, surface, tenant):
    if request.param == "workspace":
        owner = {"workspace_id": tenant.id}
        return Tokens(surface, "workspace_access_token", CredentialKind.WORKSPACE_TOKEN, owner)
    personal = surface.with_token(tenant.personal_token)
    owner = {"user_id": tenant.user_id}
    return Tokens(personal, "personal_access_token", CredentialKind.PERSONAL_TOKEN, owner)


async def issue_own(gateway, tokens, *scopes, **values):
    """A token of the same owner, made by an operator."""
    owner = {name: UUID(id) for name, id in tokens.owner.items()}
    async with gateway.database.write() as connection:
        token, row = await issue_token(connection, tokens.credential_kind, scopes, **owner, **values)
    return token.text, str(row.id)


async def test_a_new_token_is_shown_once_and_works(tokens, gateway, tenant):
    text, made = await tokens.create()
    assert text.startswith(f"dg_{tokens.credential_kind}_")
    person = {"id": tenant.user_id, "email": tenant.user_email, "name": "Ada"}
    created_by = {"created_by": person} if tokens.noun == "workspace_access_token" else {}
    assert made == {
        **DATA,
        **tokens.owner,
        **created_by,
        "id": made["id"],
        "created_at": made["created_at"],
        "modified_at": None,
        "expires_at": None,
        "last_used_at": None,
    }
    assert await tokens.get(made["id"]) == made
    assert made in await tokens.list()

    with span() as used:
        seen = await tokens.by(text).caller.get_viewer()
    assert seen["scopes"] == DATA["scopes"]
    assert datetime.fromisoformat((await tokens.get(made["id"]))["last_used_at"]) in used
    assert (await tokens.get(made["id"]))["modified_at"] is None


async def test_a_revoked_token_fails_on_the_next_request_and_is_gone(tokens, gateway):
    text, made = await tokens.create()
    headers = {"Authorization": f"Bearer {text}"}
    assert (await gateway.client.get("/api/viewer", headers=headers)).status_code == 200
    assert await tokens.delete(made["id"]) == made["id"]
    answer = await gateway.client.get("/api/viewer", headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_token")
    assert made["id"] not in [token["id"] for token in await tokens.list(limit=100)]
    for attempt in (tokens.get, tokens.delete, tokens.update):
        await refused(attempt(made["id"]), 404, "not_found")


async def test_a_token_ends_at_its_expiry(tokens, gateway):
    with span() as creating:
        _, made = await tokens.create(expires_in=60)
    assert datetime.fromisoformat(made["expires_at"]) in creating + timedelta(seconds=60)
    text, _ = await issue_own(gateway, tokens, Scope.SHARES_READ, expires_in=timedelta(microseconds=1))
    answer = await gateway.client.get("/api/viewer", headers={"Authorization": f"Bearer {text}"})
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_token")


async def test_a_field_left_out_keeps_its_value_and_null_lets_a_token_live_on(tokens):
    _, made = await tokens.create(expires_in=60)
    renamed = await tokens.update(made["id"], comment="The weekly report", scopes=None)
    assert renamed == made | {"comment": "The weekly report", "modified_at": renamed["modified_at"]}
    assert renamed["modified_at"] is not None
    changed = await tokens.update(
        made["id"], comment=None, expires_in=None, scopes=["shares:write", "shares:write", "files:read"]
    )
    assert changed["comment"] == "The weekly report"
    assert changed["expires_at"] is None
    assert changed["scopes"] == ["files:read", "shares:write"]
    assert (await tokens.update(made["id"], expires_in=5))["expires_at"] is not None


async def test_every_problem_of_a_token_is_named_at_its_place(tokens):
    with pytest.raises(Refused) as refused:
        await tokens.create(
            comment="", scopes=["shares:read", "unheard:of", "customer_portal:read"], expires_in=0, token="x"
        )
    expected = {
        ("comment",): "string_too_short",
        ("scopes", 1): "scope",
        ("scopes", 2): "scope",
        ("expires_in",): "greater_than_equal",
        ("token",): "extra_forbidden",
    }
    assert refused.value.problems == expected
    for data in ({"scopes": []}, {"expires_in": 2**31}, {"expires_in": "60"}, {"comment": "x" * 257}):
        with pytest.raises(Refused, match="invalid") as refused:
            await tokens.create(**data)
        assert [place[0] for place in refused.value.problems] == list(data)


async def test_a_token_cannot_make_one_with_a_scope_that_it_lacks(tokens, gateway):
    maker, _ = await issue_own(
        gateway, tokens, Scope.ACCESS_TOKENS_WRITE, Scope.SHARES_WRITE, Scope.FILES_READ
    )
    narrow = tokens.by(maker)
    _, made = await narrow.create(scopes=["shares:read", "files:read", "shares:write"])
    assert made["scopes"] == ["files:read", "shares:read", "shares:write"]
    assert await refusal(narrow.create(scopes=["shares:read", "files:write", "metrics:read"])) == {
        ("scopes", 1): "wider",
        ("scopes", 2): "wider",
    }


async def test_a_token_cannot_make_one_that_outlives_it(tokens, gateway):
    maker, _ = await issue_own(
        gateway, tokens, Scope.ACCESS_TOKENS_WRITE, Scope.SHARES_READ, expires_in=timedelta(minutes=10)
    )
    mortal = tokens.by(maker)
    await mortal.create(scopes=["shares:read"], expires_in=500)
    for data in ({"expires_in": 700}, {"expires_in": None}, {}):
        with pytest.raises(Refused, match=r"ends in 5\d\d seconds") as refused:
            await mortal.create(scopes=["shares:read"], **data)
        assert refused.value.problems == {("expires_in",): "wider"}
    assert await refusal(mortal.create(scopes=["shares:write"])) == {
        ("scopes", 0): "wider",
        ("expires_in",): "wider",
    }


async def test_a_change_cannot_make_a_token_wider_than_the_caller(tokens, gateway):
    caller, own_id = await issue_own(
        gateway, tokens, Scope.ACCESS_TOKENS_WRITE, Scope.SHARES_READ, expires_in=timedelta(minutes=10)
    )
    weak = tokens.by(caller)
    _, strong_id = await issue_own(gateway, tokens, Scope.SHARES_WRITE, Scope.FILES_READ)
    _, short_id = await issue_own(gateway, tokens, Scope.FILES_READ, expires_in=timedelta(minutes=5))

    async def problems(id, **data):
        with pytest.raises(Refused) as refused:
            await weak.update(id, **data)
        return refused.value.problems

    assert await problems(strong_id, scopes=["shares:read", "shares:write", "metrics:read"]) == {
        ("scopes", 1): "wider",
        ("scopes", 2): "wider",
        ("expires_in",): "wider",
    }
    assert await problems(short_id, expires_in=550) == {("expires_in",): "wider"}
    assert await problems(short_id, scopes=["shares:read"], expires_in=None) == {("expires_in",): "wider"}
    assert await problems(own_id, expires_in=None) == {("expires_in",): "wider"}
    assert await problems(own_id, scopes=["shares:write"]) == {("scopes", 0): "wider"}

    narrowed = await weak.update(strong_id, scopes=["shares:read"], expires_in=60, comment="Narrower")
    assert narrowed["scopes"] == ["shares:read"]
    swapped = await weak.update(short_id, scopes=["shares:read"])
    assert swapped["scopes"] == ["shares:read"]


async def test_a_retry_gets_the_same_secret_and_no_other_caller_does(tokens, gateway):
    every = WORKSPACE_SCOPES if tokens.noun.startswith("workspace") else USER_SCOPES
    other, _ = await issue_own(gateway, tokens, *every)
    once = tokens.idempotent(uuid4().hex)
    assert await once.create() == await once.create()
    await refused(once.by(other).create(), 409, "idempotency_conflict")


async def test_tokens_are_listed_by_creation(tokens):
    ids = [(await tokens.create(comment=f"{number}"))[1]["id"] for number in range(3)]
    assert [token["id"] for token in await tokens.list(limit=100)][-3:] == ids
    assert [token["id"] for token in await tokens.list(sorting=["-created_at"], limit=3)] == ids[::-1]


async def test_tokens_of_others_do_not_exist(tokens, other_tenant):
    _, made = await tokens.create()
    is_personal = tokens.noun.startswith("personal")
    stranger = tokens.by(other_tenant.personal_token if is_personal else other_tenant.token)
    assert made["id"] not in [token["id"] for token in await stranger.list(limit=100)]
    for attempt in (stranger.get, stranger.delete, stranger.update):
        await refused(attempt(made["id"]), 404, "not_found")


async def test_a_user_makes_tokens_of_each_workspace_in_reach_and_of_no_other(surface, tenant, other_tenant):
    user = surface.with_token(tenant.personal_token)
    second = await user.create_workspace(data={"name": "Second", "slug": f"w-{uuid4().hex}"})
    assert await refusal(user.create_workspace_access_token(data=DATA)) == {("workspace_id",): "missing"}
    made = await user.create_workspace_access_token(data={**DATA, "workspace_id": second["id"]})
    listed = (await user.list_workspace_access_tokens(workspace_id=[second["id"]]))["data"]
    assert [token["id"] for token in listed] == [made["workspace_access_token"]["id"]]
    for attempt in (
        user.create_workspace_access_token(data={**DATA, "workspace_id": other_tenant.id}),
        surface.create_workspace_access_token(data={**DATA, "workspace_id": second["id"]}),
        user.list_workspace_access_tokens(workspace_id=[other_tenant.id]),
    ):
        await refused(attempt, 404, "not_found")


async def test_tokens_of_users_and_of_workspaces_are_apart(surface, tenant):
    user = surface.with_token(tenant.personal_token)
    own = (await user.create_personal_access_token(data=DATA))["personal_access_token"]
    of_workspace = (await user.create_workspace_access_token(data=DATA))["workspace_access_token"]
    for attempt, id in (
        (user.get_workspace_access_token, own["id"]),
        (surface.get_workspace_access_token, own["id"]),
        (user.get_personal_access_token, of_workspace["id"]),
    ):
        await refused(attempt(id=id), 404, "not_found")
    assert await surface.get_workspace_access_token(id=of_workspace["id"]) == of_workspace


async def test_a_workspaces_token_has_nothing_to_do_with_a_users(surface):
    for attempt in (
        surface.list_personal_access_tokens(),
        surface.create_personal_access_token(data=DATA),
        surface.delete_personal_access_token(id=str(uuid4())),
    ):
        with pytest.raises(Refused, match="not_permitted") as refused:
            await attempt
        assert refused.value.status == 403


async def test_a_scope_of_people_is_none_of_a_workspaces_token(surface):
    assert await refusal(surface.create_workspace_access_token(data={**DATA, "scopes": ["openid"]})) == {
        ("scopes", 0): "scope"
    }


async def test_tokens_are_managed_with_their_own_scopes_only(surface, gateway, tenant):
    reader = surface.with_token(await make_token(gateway, tenant, Scope.ACCESS_TOKENS_READ))
    assert len((await reader.list_workspace_access_tokens())["data"]) == 2
    with pytest.raises(Refused, match=r"insufficient_scope.*`access_tokens:write`"):
        await reader.create_workspace_access_token(data=DATA)
    stranger = surface.with_token(await make_token(gateway, tenant, Scope.SHARES_WRITE))
    await refused(stranger.list_workspace_access_tokens(), 403, "insufficient_scope")


async def test_a_client_manages_no_tokens_even_with_the_scope(surface, gateway, tenant):
    client = await issue(gateway, CredentialKind.ACCESS_TOKEN, USER_SCOPES, user_id=UUID(tenant.user_id))
    await refused(surface.with_token(client).create_personal_access_token(data=DATA), 403, "not_permitted")
