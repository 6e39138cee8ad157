"""Custom fields, from outside: made, listed, changed, attached and removed."""

import asyncio

import pytest

from oauth.scopes import Scope
from storage.clock import now
from tests.support.callers.refusals import refusal, refused
from tests.support.callers.surfaces import Refused
from tests.support.servers.gateways import make_token

TEXT = {"type": "text", "slug": "company", "name": "Company"}
SELECT = {
    "type": "select",
    "slug": "size",
    "name": "Size",
    "properties": {"options": [{"value": "s", "label": "Small"}, {"value": "l", "label": "Large"}]},
}
NO_PROPERTIES = dict.fromkeys(
    ("form_label", "form_help_text", "form_placeholder", "textarea", "min_length", "max_length", "options")
)


async def test_a_new_custom_field_has_the_defaults(surface, tenant):
    made = await surface.create_custom_field(data=TEXT)
    assert made == {
        **TEXT,
        "id": made["id"],
        "created_at": made["created_at"],
        "modified_at": None,
        "metadata": {},
        "workspace_id": tenant.id,
        "properties": NO_PROPERTIES,
    }
    assert await surface.get_custom_field(id=made["id"]) == made


async def test_everything_that_is_sent_is_kept(surface, tenant):
    properties = {
        "form_label": "Your company",
        "form_help_text": "As registered",
        "form_placeholder": "Acme",
        "textarea": False,
        "min_length": 2,
        "max_length": 2,
        "options": None,
    }
    data = {**TEXT, "metadata": {"order": 1}, "workspace_id": tenant.id, "properties": properties}
    made = await surface.create_custom_field(data=data)
    assert made == made | data


@pytest.mark.parametrize("type", ["text", "number", "date", "checkbox"])
async def test_options_are_for_select_and_for_no_other_type(surface, type):
    assert await refusal(surface.create_custom_field(data={**SELECT, "type": type})) == {
        ("properties", "options"): "no_options"
    }
    made = await surface.create_custom_field(data={**TEXT, "type": type})
    assert await refusal(
        surface.update_custom_field(id=made["id"], data={"properties": SELECT["properties"]})
    ) == {("properties", "options"): "no_options"}


async def test_select_cannot_be_without_options(surface):
    for data in ({**SELECT, "properties": {}}, {**TEXT, "type": "select"}):
        assert await refusal(surface.create_custom_field(data=data)) == {("properties", "options"): "missing"}
    made = await surface.create_custom_field(data=SELECT)
    assert await refusal(
        surface.update_custom_field(id=made["id"], data={"properties": {"form_label": "Size"}})
    ) == {("properties", "options"): "missing"}


async def test_every_problem_of_a_custom_field_is_named_at_its_place(surface):
    assert set(
        await refusal(
            surface.create_custom_field(
                data={
                    "type": "colour",
                    "slug": "No spaces",
                    "name": "",
                    "metadata": {"list": []},
                    "properties": {
                        "min_length": -1,
                        "max_length": "5",
                        "textarea": 1,
                        "unheard_of": 1,
                        "options": [{"value": "", "label": "None"}, {"value": "a"}],
                    },
                    "order": 1,
                }
            )
        )
    ) == {
        ("type",),
        ("slug",),
        ("name",),
        ("metadata", "list"),
        ("properties", "min_length"),
        ("properties", "max_length"),
        ("properties", "textarea"),
        ("properties", "unheard_of"),
        ("properties", "options", 0, "value"),
        ("properties", "options", 1, "label"),
        ("order",),
    }


async def test_lengths_that_nothing_could_meet_and_options_listed_twice_are_refused(surface):
    assert await refusal(
        surface.create_custom_field(data={**TEXT, "properties": {"min_length": 3, "max_length": 2}})
    ) == {("properties",): "value_error"}
    twice = [{"value": "s", "label": "Small"}, {"value": "s", "label": "Short"}]
    assert await refusal(surface.create_custom_field(data={**SELECT, "properties": {"options": twice}})) == {
        ("properties", "options"): "value_error"
    }


async def test_a_slug_is_unique_in_its_workspace_only(surface, other_tenant):
    made = await surface.create_custom_field(data=TEXT)
    assert await refusal(surface.create_custom_field(data={**TEXT, "type": "date"})) == {
        ("slug",): "duplicate"
    }
    other = await surface.create_custom_field(data={**TEXT, "slug": "other"})
    assert await refusal(surface.update_custom_field(id=other["id"], data={"slug": "company"})) == {
        ("slug",): "duplicate"
    }
    assert (await surface.update_custom_field(id=made["id"], data={"slug": "company"}))["slug"] == "company"
    await surface.with_token(other_tenant.token).create_custom_field(data=TEXT)


async def test_a_field_left_out_keeps_its_value_and_properties_are_replaced_as_a_whole(surface):
    made = await surface.create_custom_field(
        data={**TEXT, "metadata": {"a": 1}, "properties": {"form_label": "Company", "min_length": 1}}
    )
    renamed = await surface.update_custom_field(
        id=made["id"], data={"name": "Firm", "slug": None, "properties": None}
    )
    assert renamed == made | {"name": "Firm", "modified_at": renamed["modified_at"]}
    assert renamed["modified_at"] is not None
    replaced = await surface.update_custom_field(
        id=made["id"], data={"metadata": {}, "properties": {"max_length": 9}}
    )
    assert replaced["metadata"] == {}
    assert replaced["properties"] == NO_PROPERTIES | {"max_length": 9}


async def test_a_type_is_fixed_for_ever(surface):
    made = await surface.create_custom_field(data=TEXT)
    with pytest.raises(Refused) as refused:
        await surface.update_custom_field(id=made["id"], data={"type": "date"})
    type_ = "read_only" if surface.name == "rest" else "extra_forbidden"
    assert refused.value.problems == {("type",): type_}


async def test_a_removed_custom_field_leaves_its_shares(surface):
    kept = await surface.create_custom_field(data=SELECT)
    gone = await surface.create_custom_field(data=TEXT)
    share = await surface.create_share(
        data={
            "name": "Report",
            "prices": [{"amount_type": "free"}],
            "attached_custom_fields": [
                {"custom_field_id": gone["id"], "required": True},
                {"custom_field_id": kept["id"], "required": False},
            ],
        }
    )
    assert share["attached_custom_fields"][0]["custom_field"] == gone
    assert await surface.delete_custom_field(id=gone["id"]) == gone["id"]
    left = (await surface.get_share(id=share["id"]))["attached_custom_fields"]
    assert [(entry["custom_field_id"], entry["custom_field"]) for entry in left] == [(kept["id"], kept)]
    for attempt in (surface.get_custom_field, surface.delete_custom_field):
        await refused(attempt(id=gone["id"]), 404, "not_found")
    await surface.create_custom_field(data=TEXT)


async def test_a_renamed_custom_field_changes_the_entity_tag_of_its_shares_but_not_the_shares(
    graphql, surface, rest
):
    field = await surface.create_custom_field(data=TEXT)
    attached = {"attached_custom_fields": [{"custom_field_id": field["id"], "required": True}]}
    new = {"name": "Report", "prices": [{"amount_type": "free"}]}
    share, plain = await surface.create_share(data=new | attached), await surface.create_share(data=new)

    async def tags():
        """The tags of both shares, as REST and GraphQL give them."""
        document = "{ shares(sorting: [CREATED_AT]) { data { etag } } }"
        listed = [each["etag"] for each in (await graphql(document))["data"]["shares"]["data"]]
        read = [(await rest.ask("get_share", {"id": each["id"]})).headers["etag"] for each in (share, plain)]
        assert read == listed
        return read

    before, since = await tags(), now().isoformat()
    renamed = await surface.update_custom_field(id=field["id"], data={"name": "Firm"})
    after = await tags()
    assert after[0] != before[0]
    assert after[1] == before[1]
    await refused(
        surface.update_share(id=share["id"], data={"name": "Annual report"}, if_match=before[0]),
        412,
        "precondition_failed",
    )
    share["attached_custom_fields"][0]["custom_field"] = renamed
    assert await surface.get_share(id=share["id"]) == share
    # Who keeps a copy learns of it from the list of custom fields.
    assert (await surface.list_shares(modified_since=since))["data"] == []
    assert (await surface.list_custom_fields(modified_since=since))["data"] == [renamed]


async def test_attaching_what_is_removed_at_the_same_moment_never_fails_without_a_reason(surface):
    for _ in range(5):
        field = await surface.create_custom_field(data=TEXT)
        attached = [{"custom_field_id": field["id"], "required": True}]
        data = {"name": "Report", "prices": [{"amount_type": "free"}], "attached_custom_fields": attached}
        made, removed = await asyncio.gather(
            surface.create_share(data=data),
            surface.delete_custom_field(id=field["id"]),
            return_exceptions=True,
        )
        assert removed == field["id"]
        if isinstance(made, Refused):
            assert made.problems == {("attached_custom_fields", 0, "custom_field_id"): "not_found"}


async def test_custom_fields_of_another_workspace_do_not_exist(surface, other_tenant):
    made = await surface.with_token(other_tenant.token).create_custom_field(data=TEXT)
    for attempt in (surface.get_custom_field, surface.delete_custom_field):
        await refused(attempt(id=made["id"]), 404, "not_found")
    await refused(surface.update_custom_field(id=made["id"], data={"name": "Mine"}), 404, "not_found")
    await refused(
        surface.create_custom_field(data={**TEXT, "workspace_id": other_tenant.id}), 404, "not_found"
    )
    assert (await surface.list_custom_fields())["data"] == []


async def test_lists_are_by_workspace_and_sorted_by_creation(surface, tenant, other_tenant):
    made = [await surface.create_custom_field(data={**TEXT, "slug": slug}) for slug in ("b", "a", "c")]
    ids = [field["id"] for field in made]

    async def listed(**query):
        return [field["id"] for field in (await surface.list_custom_fields(**query))["data"]]

    assert await listed() == ids
    assert await listed(workspace_id=[tenant.id], sorting=["-created_at"]) == ids[::-1]
    await refused(listed(workspace_id=[tenant.id, other_tenant.id]), 404, "not_found")


async def test_changing_needs_the_scope_that_writes(surface, gateway, tenant):
    reader = surface.with_token(await make_token(gateway, tenant, Scope.CUSTOM_FIELDS_READ))
    assert (await reader.list_custom_fields())["meta"]["total"] == 0
    with pytest.raises(Refused, match=r"insufficient_scope.*`custom_fields:write`"):
        await reader.create_custom_field(data=TEXT)


async def test_a_field_is_attached_once(surface):
    field = await surface.create_custom_field(data=TEXT)
    twice = [{"custom_field_id": field["id"], "required": required} for required in (True, False)]
    data = {"name": "Report", "prices": [{"amount_type": "free"}], "attached_custom_fields": twice}
    problem = {("attached_custom_fields", 1, "custom_field_id"): "twice"}
    assert await refusal(surface.create_share(data=data)) == problem
