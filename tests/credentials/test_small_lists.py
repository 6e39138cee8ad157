"""Lists without totals have a limit too: tokens and OAuth clients of an owner, members of a workspace."""

from contextlib import suppress

import pytest

from resolvers.operations.rows import room
from tests.support.callers.refusals import refused
from tests.support.callers.surfaces import Refused

TOKEN = {"comment": "Reports", "scopes": ["events:read"]}
CLIENT = {"name": "Reports", "redirect_uris": ["https://client.example/callback"], "scopes": ["events:read"]}


@pytest.fixture
def user(surface, tenant):
    """The workspace's founder, with a personal token."""
    return surface.with_token(tenant.personal_token)


async def create(user, name, place):
    if name == "access tokens":
        return await user.create_personal_access_token(data=TOKEN)
    if name == "access tokens of a workspace":
        return await user.create_workspace_access_token(data=TOKEN)
    if name == "OAuth clients":
        return await user.create_oauth_client(data=CLIENT)
    return await user.invite_workspace_member(data={"email": f"{place}@example.com"})


@pytest.mark.parametrize(
    "name", ["access tokens", "access tokens of a workspace", "OAuth clients", "members and invitations"]
)
async def test_a_list_has_no_more_rows_than_its_limit(user, monkeypatch, name):
    monkeypatch.setattr(room, "MOST", 3)
    made = 0
    with suppress(Refused):
        # The founder has tokens and is a member already.
        for made in range(4):
            await create(user, name, made)
    assert 0 < made <= 3
    failure = await refused(create(user, name, made), 403, "not_permitted")
    assert f"There are 3 {name.removesuffix(' of a workspace')}, and 3 is the limit" in failure.detail
    monkeypatch.setattr(room, "MOST", 4)
    await create(user, name, made)


async def test_an_invitation_may_be_renewed_when_no_other_fits(user, monkeypatch):
    await user.invite_workspace_member(data={"email": "one@example.com"})
    monkeypatch.setattr(room, "MOST", 2)
    await user.invite_workspace_member(data={"email": "one@example.com"})
    await refused(user.invite_workspace_member(data={"email": "two@example.com"}), 403, "not_permitted")


async def test_an_ended_token_keeps_its_place(user, monkeypatch):
    made = await user.create_workspace_access_token(data=TOKEN)
    await user.delete_workspace_access_token(id=made["workspace_access_token"]["id"])
    monkeypatch.setattr(room, "MOST", 2)
    failure = await refused(user.create_workspace_access_token(data=TOKEN), 403, "not_permitted")
    assert "400 days" in failure.detail
