"""Conditions of changes: what is removed is what was read, and a refusal says what is wrong with a tag."""

from random import Random

import pytest

from rest_compat.api import operation_routes
from tests.support.callers.examples import EXAMPLES, IN_A_BROWSER, PERSONAL
from tests.support.callers.refusals import refusal, refused
from tests.support.callers.surfaces import Refused, Rest
from tests.support.callers.world import check_each, world_of
from tests.support.measures.cases import cases
from tests.support.servers.gateways import make_tenant, start_session

pytestmark = pytest.mark.both_databases

OPERATIONS = {name: route.operation for name, route in operation_routes().items()}
REMOVALS = sorted(name for name, operation in OPERATIONS.items() if operation.removes is not None)
CONDITIONAL = sorted(name for name, operation in OPERATIONS.items() if operation.is_conditional)
# Changes that can be made again and again; `update_member` hands its team over.
REPEATED = {name for name in CONDITIONAL if name.startswith("update_")} - {"update_member"}
# What they remove has no tag: it is no resource that can be read by itself.
WITHOUT_TAG = {"delete_oauth_client_document", "delete_totp", "end_portal_session"}
MALFORMED = ["abc", '"abc', 'w/"abc"', '"a" "b"', '"a b"', "**", '*, "a"']


@pytest.fixture
def make(gateway, caller):
    """What makes a workspace of its own, and gives what gives callers of an operation, of the compared and of
    REST, who may, and its arguments."""

    async def made():
        tenant = await make_tenant(gateway)
        rest = Rest(gateway.client, gateway.app, tenant.token)
        world = await world_of(gateway, tenant)
        session = await start_session(gateway, tenant.user_id)

        async def ask(name):
            arguments = EXAMPLES[name](world)
            if name in IN_A_BROWSER:
                return caller(None).in_browser(session), rest.in_browser(session), arguments
            token = tenant.personal_token if name in PERSONAL else tenant.token
            token = world.customer_token if "portal" in name else token
            return caller(token), rest.with_token(token), arguments

        return ask

    return made


@pytest.fixture
async def asked(make):
    return await make()


async def read(rest, name, arguments):
    """What the operation compares, as REST reads it."""
    compared = OPERATIONS[name].compared
    names = {parameter.name for parameter in compared.parameters}
    return await rest.ask(compared.name, {key: value for key, value in arguments.items() if key in names})


def test_every_deletion_of_a_resource_takes_a_condition():
    deletions = {name for name, route in operation_routes().items() if route.method == "DELETE"}
    assert deletions - WITHOUT_TAG == set(REMOVALS)


async def test_a_resource_is_removed_only_while_it_is_what_was_read(make):
    async def check(name, asked):
        surface, rest, arguments = await asked(name)
        etag = (await read(rest, name, arguments)).headers["etag"]
        for tag in ('"stale"', f"W/{etag}"):
            with pytest.raises(Refused) as stale:
                await surface.ask(name, {**arguments, "if_match": tag})
            assert (stale.value.status, stale.value.code) == (412, "precondition_failed")
            assert ("weak" in stale.value.detail) == tag.startswith("W/")
        assert (await read(rest, name, arguments)).headers["etag"] == etag
        await surface.ask(name, {**arguments, "if_match": f'"another", {etag}'})
        if name == "delete_share":
            assert (await read(rest, name, arguments)).value["is_archived"]
            return
        with pytest.raises(Refused):
            await read(rest, name, arguments)

    await check_each(REMOVALS, make, check)


def condition(random, etag):
    """A condition in any form, and the status and the word of its refusal: None if it holds for this tag.

    RFC 9110 13.1.1 compares strongly; 8.8.3 lets a tag contain nearly anything.
    """
    chance = random.random()
    if chance < 0.2:
        return random.choice(MALFORMED), (422, "quotes")
    if chance < 0.25:
        return "*", None
    within = etag.strip('"')
    others = ['"other"', 'W/"other"', f'"{within}x"', f'"x,{within},x"', '"x,*,x"', '"W/"', '""']
    weights = [2, 3, *(1 for _ in others)]
    tags = random.choices([etag, f"W/{etag}", *others], weights, k=random.randint(1, 4))
    header = random.choice([",", ", ", " ,\t", ",, "]).join(tags)
    if etag in tags:
        return header, None
    return header, (412, "weak" if f"W/{etag}" in tags else "changed")


async def test_a_condition_of_any_form_is_judged_as_the_rfc_says(asked):
    """Of any operation that takes one; where it holds, only what can be repeated is done."""
    random, refusals = Random(28), 0
    for _ in range(cases(20, 2)):
        name = random.choice(CONDITIONAL)
        surface, rest, arguments = await asked(name)
        etag = (await read(rest, name, arguments)).headers["etag"]
        header, refusal = condition(random, etag)
        call = surface.ask(name, {**arguments, "if_match": header})
        if refusal is not None:
            with pytest.raises(Refused) as refused:
                await call
            written = str(refused.value.written)
            assert (refused.value.status, refusal[1] in written) == (refusal[0], True), (
                name,
                header,
                written,
            )
            refusals += 1
        elif name in REPEATED:
            await call
        else:
            call.close()
    assert refusals


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
