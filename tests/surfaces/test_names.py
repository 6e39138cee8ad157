"""Names that people read: none is invisible, reordered or ours, on whichever surface it comes in."""

from collections.abc import Iterator
from typing import Any, get_args
from uuid import UUID, uuid4

import pytest
from pydantic import AfterValidator, BaseModel
from sqlalchemy import update

from gateway.cli.administration.users import UserCreate
from rest_compat.api import operation_routes
from schema.kit.base import Input
from schema.values.names import Name
from storage.rows.rows import table_of
from storage.tables.shares.shares import ShareRow
from tests.support.callers.examples import FREE
from tests.support.callers.refusals import refusal, refused
from tests.support.callers.surfaces import Refused
from tests.support.callers.world import OAUTH_CLIENT

# What fields that people read are called.
READ_BY_PEOPLE = {"name", "comment", "label", "title", "display_name"}
# Names of events are the caller's keys and stay as they are sent; `safe_name` cleans those of files.
NOT_CLEANED_HERE = {("EventCreate", "name"), ("FileCreate", "name")}
OPERATIONS = [
    "create_custom_field",
    "create_customer",
    "create_oauth_client",
    "create_share",
    "create_workspace",
]


def inputs(model: type[BaseModel] = Input) -> Iterator[type[BaseModel]]:
    """Every body that is declared anywhere but in tests: of operations, of forms and of commands."""
    for below in model.__subclasses__():
        if not below.__module__.startswith("tests."):
            yield below
            yield from inputs(below)


def is_cleaned(annotation: Any, metadata: Any = ()) -> bool:
    """Whether a value of the type goes through `Name`, at whatever depth of the annotation."""
    validators = [*metadata, *getattr(annotation, "__metadata__", ())]
    if any(isinstance(each, AfterValidator) and isinstance(each.func, Name) for each in validators):
        return True
    return any(is_cleaned(part) for part in get_args(annotation) if not isinstance(part, AfterValidator))


def test_every_name_is_cleaned_on_input() -> None:
    assert operation_routes()
    fields = {
        (model.__name__, name): field
        for model in inputs()
        for name, field in model.model_fields.items()
        if name in READ_BY_PEOPLE and not model.__name__.endswith("Query")
    }
    assert {("WorkspaceUpdate", "name"), (UserCreate.__name__, "name")} <= fields.keys()
    unclean = {place for place, field in fields.items() if not is_cleaned(field.annotation, field.metadata)}
    assert unclean == NOT_CLEANED_HERE


async def create(caller: Any, tenant: Any, operation: str, name: str) -> Any:
    """Call the operation with a name and what else it needs; gives what was made."""
    slug = f"w-{uuid4().hex}"
    needed: dict[str, dict[str, Any]] = {
        "create_workspace": {"slug": slug},
        "create_share": {"prices": FREE},
        "create_custom_field": {"type": "text", "slug": slug},
        "create_customer": {"email": f"{slug}@example.com"},
        "create_oauth_client": OAUTH_CLIENT,
    }
    surface = caller(tenant.personal_token if operation == "create_workspace" else tenant.token)
    made = await getattr(surface, operation)(data=needed[operation] | {"name": name})
    return made.get("oauth_client", made)


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_name_that_reads_as_another_is_cleaned(caller, tenant, operation):
    made = await create(caller, tenant, operation, " abc\u202egpj\n\u200bShop\x07 ")
    assert made["name"] == "abcgpj Shop"


@pytest.mark.parametrize(
    "name", ["\u200b\u200b\u200b", "   ", "\u3164\u3164\u3164", "\u202e\u2066\u2069\ufeff"]
)
@pytest.mark.parametrize("operation", OPERATIONS)
async def test_an_invisible_name_is_refused(caller, tenant, operation, name):
    (problem,) = (await refused(create(caller, tenant, operation, name), 422, "invalid")).detail
    assert (problem["loc"][-1], problem["type"]) == ("name", "name_invisible")
    assert problem["msg"] == "`name` should have at least 1 visible character"


@pytest.mark.parametrize("operation", ["create_share", "create_workspace"])
async def test_three_characters_are_a_name_with_a_blank_inside_and_not_with_one_beside(
    caller, tenant, operation
):
    made = await create(caller, tenant, operation, "A B")
    assert made["name"] == "A B"
    for short in ("AB ", "A\u200bB", "\u0915\u200d\u0915"):
        (problem,) = (await refused(create(caller, tenant, operation, short), 422, "invalid")).detail
        assert (problem["type"], problem["msg"]) == (
            "string_too_short",
            "`name` should have at least 3 characters",
        )


@pytest.mark.parametrize("name", ["order\nplaced", "order\x1b[2J", "order\x7f", "order\x85placed"])
async def test_an_event_has_no_name_with_control_characters(surface, name):
    event = {"name": name, "external_customer_id": "ada"}
    assert set((await refusal(surface.ingest_events(data={"events": [event]}))).values()) == {
        "string_control"
    }
    result = await surface.ingest_events(data={"events": [event | {"name": "order\u2060 placed"}]})
    assert result["inserted"] == 1


@pytest.mark.parametrize("name", ["Duograph", "duo\u200bgraph", " DUOGRAPH. ", "\uff24uograph"])
async def test_an_application_cannot_take_the_name_of_the_service(surface, name):
    assert set((await refusal(surface.create_oauth_client(data=OAUTH_CLIENT | {"name": name}))).values()) == {
        "name_reserved"
    }
    made = await surface.create_oauth_client(data=OAUTH_CLIENT | {"name": "Books for Duograph"})
    with pytest.raises(Refused):
        await surface.update_oauth_client(id=made["oauth_client"]["id"], data={"name": name})


async def test_a_name_from_before_stays_readable_and_the_rest_can_change(surface, gateway):
    share = await surface.create_share(data={"name": "Report", "prices": FREE})
    shares, kept = table_of(ShareRow), "a\u202eb\u200b"
    async with gateway.database.write() as connection:
        await connection.execute(update(shares).where(shares.c.id == UUID(share["id"])).values(name=kept))
    assert (await surface.get_share(id=share["id"]))["name"] == kept
    changed = await surface.update_share(id=share["id"], data={"description": "New"})
    assert changed["name"] == kept
