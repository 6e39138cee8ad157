"""Conditions of changes: what is removed is what was read, and a refusal says what is wrong with a tag."""

import pytest

from rest_compat.api import operation_routes
from tests.support.callers.examples import EXAMPLES, IN_A_BROWSER, PERSONAL
from tests.support.callers.refusals import refusal, refused
from tests.support.callers.surfaces import Refused
from tests.support.callers.world import world_of
from tests.support.servers.gateways import start_session

pytestmark = pytest.mark.both_databases

OPERATIONS = {name: route.operation for name, route in operation_routes().items()}
REMOVALS = sorted(name for name, operation in OPERATIONS.items() if operation.removes is not None)
# What they remove has no tag: it is no resource that can be read by itself.
WITHOUT_TAG = {"delete_oauth_client_document", "delete_totp", "end_portal_session"}
MALFORMED = ["abc", '"abc', 'w/"abc"', '"a" "b"', '"a b"', "**", '*, "a"']


@pytest.fixture
async def asked(gateway, tenant, caller, rest):
    """Callers of an operation, of the compared and of REST, who may; and what it names of the resource."""
    world = await world_of(gateway, tenant)

    async def ask(name):
        identity = {key: value for key, value in EXAMPLES[name](world).items() if key == "id"}
        if name in IN_A_BROWSER:
            session = await start_session(gateway, tenant.user_id)
            return caller(None).in_browser(session), rest.in_browser(session), identity
        token = tenant.personal_token if name in PERSONAL else tenant.token
        token = world.customer_token if "portal" in name else token
        return caller(token), rest.with_token(token), identity

    return ask


def test_every_deletion_of_a_resource_takes_a_condition():
    deletions = {name for name, route in operation_routes().items() if route.method == "DELETE"}
    assert deletions - WITHOUT_TAG == set(REMOVALS)


@pytest.mark.parametrize("name", REMOVALS)
async def test_a_resource_is_removed_only_while_it_is_what_was_read(name, asked):
    surface, rest, identity = await asked(name)
    read = OPERATIONS[name].removes.name
    etag = (await rest.ask(read, identity)).headers["etag"]
    for tag in ('"stale"', f"W/{etag}"):
        with pytest.raises(Refused) as stale:
            await surface.ask(name, {**identity, "if_match": tag})
        assert (stale.value.status, stale.value.code) == (412, "precondition_failed")
        assert ("weak" in stale.value.detail) == tag.startswith("W/")
    assert (await rest.ask(read, identity)).headers["etag"] == etag
    await surface.ask(name, {**identity, "if_match": f'"another", {etag}'})
    if name == "delete_share":
        assert (await rest.ask(read, identity)).value["is_archived"]
        return
    with pytest.raises(Refused):
        await rest.ask(read, identity)


@pytest.mark.parametrize("tag", MALFORMED)
async def test_what_is_no_entity_tag_is_refused_as_that(tag, surface):
    share = await surface.create_share(data={"name": "Report", "prices": [{"amount_type": "free"}]})
    for name, data in (("delete_share", {}), ("update_share", {"data": {"name": "Annual report"}})):
        with pytest.raises(Refused) as malformed:
            await surface.ask(name, {"id": share["id"], "if_match": tag, **data})
        (problem,) = malformed.value.detail
        assert (malformed.value.status, problem["type"]) == (422, "entity_tag")
        assert {"If-Match", "ifMatch"} & set(str(malformed.value.written).replace("'", " ").split())
    assert (await surface.get_share(id=share["id"]))["name"] == "Report"


async def test_a_whole_object_that_was_read_before_the_last_change_is_stale(rest):
    """Over REST, where it can be sent back."""
    share = await rest.create_share(data={"name": "Report", "prices": [{"amount_type": "free"}]})
    changed = await rest.update_share(id=share["id"], data={"name": "Annual report"})
    await rest.update_share(id=share["id"], data={"name": "Yearly report"})
    for earlier in (share, changed):
        change = rest.update_share(id=share["id"], data=earlier | {"description": "New"})
        assert "stale" in (await refused(change, 412, "precondition_failed")).detail
    problems = await refusal(rest.update_share(id=share["id"], data={"modified_at": "yesterday"}))
    assert problems == {("modified_at",): "read_only"}
