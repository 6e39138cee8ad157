"""Ids over GraphQL have the type ID, and wrong ones are refused in the words of REST."""

import pytest
from graphql import GraphQLObjectType

from resolvers.graph.root import make_schema
from tests.support.callers.surfaces import GraphQL, Refused, Rest

WITH_OWN_IDS = {
    "AuthorizedApplication",
    "BrowserSession",
    "Change",
    "CustomerSession",
    "FileUpload",
    "OAuthClientDocument",
    "PersonalAccessToken",
    "Price",
    "WebhookDelivery",
    "WorkspaceAccessToken",
    "WorkspaceInvitation",
}
# No type has the id of a user besides persons; a change's actor is specified with the id of what made it.
# A subscription tells changes of the feed. Those of the others are deprecated.
WITH_IDS_OF_OTHERS = {
    "ChangeActor",
    "Deletion",
    "FollowedChange",
    "Person",
    "ViewerUser",
    "ViewerWorkspace",
}
WRONG = [7, 1.5, True, [], {"a": 1}, "x", "", "00000000-0000-4000-8000-00000000000g"]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
async def test_a_wrong_id_is_refused_alike_on_both_surfaces(gateway, tenant, wrong):
    refusals = []
    for surface in (Rest, GraphQL):
        caller = surface(gateway.client, gateway.app, tenant.token)
        with pytest.raises(Refused) as refused:
            await caller.create_member(data={"customer_id": wrong, "email": "bo@example.com"})
        # Each surface names the place as it spells it.
        refusals.append(str(refused.value.detail).replace("`customerId`", "`customer_id`"))
    assert refusals[0] == refusals[1]


@pytest.mark.parametrize("written", ['"{id}"', '"{upper}"', '"urn:uuid:{id}"', "$id"])
async def test_an_id_can_be_a_literal_or_a_variable(gateway, tenant, written):
    id = tenant.id
    literal = written.format(id=id, upper=id.upper()) if written != "$id" else written
    query = f"query($id: ID) {{ workspace(id: {literal}) {{ id }} }}"
    if written != "$id":
        query = f"{{ workspace(id: {literal}) {{ id }} }}"
    for _ in range(2):  # Kept documents answer as new ones.
        answer = await gateway.client.post(
            "/graphql",
            json={"query": query, "variables": {"id": id}},
            headers={"Authorization": f"Bearer {tenant.token}"},
        )
        assert answer.json()["data"] == {"workspace": {"id": id}}


def test_no_type_has_the_id_of_another():
    """Relay's store keeps one record for an id, whatever its type is."""
    schema = make_schema()._schema
    named = {name: type_ for name, type_ in schema.type_map.items() if isinstance(type_, GraphQLObjectType)}
    nodes = {type_.name for type_ in schema.get_possible_types(schema.type_map["Node"])}
    others = {name for name, type_ in named.items() if "id" in type_.fields and name not in nodes}
    in_portal = {name for name in others if name.startswith("Portal")}
    assert others - in_portal == WITH_OWN_IDS | WITH_IDS_OF_OTHERS


async def test_the_schema_calls_every_id_an_id(gateway):
    fields = "fields { name type { ofType { name kind } } }"
    query = f'{{ __type(name: "Share") {{ {fields} }} scalar: __type(name: "ID") {{ kind }} }}'
    answer = (await gateway.client.post("/graphql", json={"query": query})).json()["data"]
    fields = {field["name"]: field["type"]["ofType"] for field in answer["__type"]["fields"]}
    assert fields["id"] == fields["workspaceId"] == {"name": "ID", "kind": "SCALAR"}
    assert answer["scalar"] == {"kind": "SCALAR"}


async def test_every_other_scalar_names_its_specification(gateway):
    query = "{ __schema { types { kind name specifiedByURL } } }"
    types = (await gateway.client.post("/graphql", json={"query": query})).json()["data"]["__schema"]["types"]
    scalars = {each["name"]: each["specifiedByURL"] for each in types if each["kind"] == "SCALAR"}
    own = scalars.keys() - {"Boolean", "Float", "ID", "Int", "String"}
    assert own
    assert all(scalars[name].startswith("https://") for name in own)
