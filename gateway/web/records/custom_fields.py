"""The pages of custom fields."""

from typing import Any

from gateway.web.records.kit.cells import Column
from gateway.web.records.kit.fields import Words
from gateway.web.records.kit.records import Records, Step, Task
from resolvers.shares.custom_fields import (
    create_custom_field,
    delete_custom_field,
    get_custom_field,
    list_custom_fields,
    update_custom_field,
)
from schema.shares.custom_fields import CustomField

ONLY_TEXT, ONLY_SELECT = ("type", "text"), ("type", "select")
WORDS = {
    "type": Words(hint="It cannot be changed later."),
    "slug": Words(
        hint="Its name in your code: lowercase letters, digits, _ and -. No two fields can have the same one."
    ),
    "name": Words(hint="Shown to you and other members when you attach the field to a share."),
    "properties": Words("In the form", hint=""),
    "properties.form_label": Words("Label"),
    "properties.form_help_text": Words("Help text"),
    "properties.form_placeholder": Words("Placeholder"),
    "properties.textarea": Words("Several lines", when=ONLY_TEXT),
    "properties.min_length": Words("Shortest text", when=ONLY_TEXT),
    "properties.max_length": Words("Longest text", when=ONLY_TEXT),
    "properties.options": Words(
        "Options", hint="The answers to choose from, if the type is Select.", when=ONLY_SELECT
    ),
    "metadata": Words(hint="Your own keys and values."),
}


def _without_nothing(data: dict[str, Any], _: Any) -> dict[str, Any]:
    """Options are for one type of field: without any, they are left out."""
    properties = {
        name: value for name, value in (data.get("properties") or {}).items() if value not in ([], False)
    }
    return {**data, "properties": properties}


CUSTOM_FIELDS = Records(
    area="Custom fields",
    path="custom-fields",
    one="custom field",
    many="custom fields",
    about="Questions that the forms of shares ask.",
    empty="Create a field here, then attach it to a share.",
    model=CustomField,
    find=list_custom_fields,
    get=get_custom_field,
    called=lambda field: str(field.name),
    columns=(Column("name"), Column("slug"), Column("type"), Column("created_at")),
    facts={"properties": Column("properties", "In the form")},
    create=Task(
        create_custom_field,
        "Create custom field",
        "Custom field created.",
        heading="New custom field",
        words=WORDS,
        adjust=_without_nothing,
        starts_with=lambda workspace, record: {"type": "text"},
    ),
    change=Task(
        update_custom_field,
        "Save custom field",
        "Custom field saved.",
        heading="Edit custom field",
        words=WORDS,
        adjust=_without_nothing,
    ),
    steps=(
        Step(
            "delete",
            "Delete",
            "The field is deleted and detached from all shares. This cannot be undone.",
            "Delete custom field",
            "Custom field deleted.",
            delete_custom_field,
            leads_to_list=True,
        ),
    ),
)
