"""Custom fields: form fields that a workspace defines and attaches to shares."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

import strawberry
from pydantic import AfterValidator, BaseModel, Field, model_validator
from pydantic_core import PydanticCustomError

from schema.kit.base import Input, Output, Resource, Update, graphql_input, graphql_type
from schema.kit.fields import CreatedAt, ModifiedAt, WorkspaceId, WorkspaceIdFilter, WorkspaceIdInput
from schema.kit.metadata import Metadata, MetadataPairs
from schema.kit.pages import ChangesQuery, SortedByChange
from schema.values.names import NAMED
from schema.values.scalars import Bool, Int
from storage.enums import CustomFieldType

strawberry.enum(CustomFieldType)

Slug = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        pattern=r"^[a-z0-9_-]+$",
        description="The name in code: lowercase letters, digits, `_` and `-`; unique in the workspace.",
    ),
]
Name = Annotated[str, Field(min_length=1, max_length=256, description="The display name.")]
NameInput = Annotated[Name, NAMED]
Label = Annotated[str | None, Field(max_length=1000)]
Length = Annotated[Int | None, Field(ge=0)]
LARGEST_PROPERTIES = 16 * 1024


@graphql_type
class SelectOption(Output):
    """One option of a `select` field."""

    value: str
    label: str


@graphql_type
class CustomFieldProperties(Output):
    """How a form shows the field, and which values it accepts."""

    form_label: str | None = None
    form_help_text: str | None = None
    form_placeholder: str | None = None
    textarea: bool | None = None
    min_length: int | None = None
    max_length: int | None = None
    options: list[SelectOption] | None = None


@graphql_type
class CustomField(Resource):
    """A form field that can be attached to shares."""

    created_at: CreatedAt
    modified_at: ModifiedAt
    metadata: MetadataPairs
    type: CustomFieldType
    slug: Slug
    name: Name
    workspace_id: WorkspaceId
    properties: CustomFieldProperties


@graphql_input
class SelectOptionInput(Input):
    """One option of a `select` field."""

    value: Annotated[str, Field(min_length=1, max_length=256)]
    label: Annotated[str, Field(min_length=1, max_length=256), NAMED]


def _unique_values(options: list[SelectOptionInput]) -> list[SelectOptionInput]:
    if len({option.value for option in options}) != len(options):
        raise ValueError("Input should list each value once")
    return options


Options = Annotated[
    list[SelectOptionInput],
    Field(min_length=1, max_length=500, description="The options of a `select` field, in order."),
    AfterValidator(_unique_values),
]


@graphql_input
class CustomFieldPropertiesInput(Input):
    """How a form shows the field, and which values it accepts.

    `options` is required for `select` and not allowed for other types. As JSON, all properties of a field
    have at most 16 KiB.
    """

    form_label: Label = None
    form_help_text: Label = None
    form_placeholder: Label = None
    textarea: Bool | None = None
    min_length: Length = None
    max_length: Length = None
    options: Options | None = None

    @model_validator(mode="after")
    def _check_lengths(self) -> "CustomFieldPropertiesInput":
        if self.min_length is not None and self.max_length is not None and self.min_length > self.max_length:
            raise ValueError("`min_length` should be at most `max_length`")
        return self

    @model_validator(mode="after")
    def _check_size(self) -> "CustomFieldPropertiesInput":
        size = len(self.model_dump_json(exclude_none=True).encode())
        if size > LARGEST_PROPERTIES:
            raise PydanticCustomError(
                "properties_size",
                "The properties of a custom field should have at most {most} bytes as JSON, not {size}: use "
                "fewer options or shorter texts",
                {"most": LARGEST_PROPERTIES, "size": size},
            )
        return self


@graphql_input
class CustomFieldCreate(Input):
    """A new custom field. Its type cannot be changed later."""

    type: CustomFieldType
    slug: Slug
    name: NameInput
    metadata: Metadata = Field(default_factory=lambda: MetadataPairs({}))
    properties: CustomFieldPropertiesInput = CustomFieldPropertiesInput()
    workspace_id: WorkspaceIdInput = None


@graphql_input
class CustomFieldUpdate(Update):
    """Changes to a custom field.

    Fields left out keep their values; `metadata` and `properties` are replaced as a whole. Null empties
    `metadata`.
    """

    empties: ClassVar[Mapping[str, type]] = {"metadata": dict}
    reads: ClassVar[type[BaseModel] | None] = CustomField

    slug: strawberry.Maybe[Slug | None]
    name: strawberry.Maybe[NameInput | None]
    metadata: strawberry.Maybe[Metadata | None]
    properties: strawberry.Maybe[CustomFieldPropertiesInput | None]


class CustomFieldQuery(ChangesQuery):
    """The arguments of the list of custom fields."""

    workspace_id: WorkspaceIdFilter = None
    sorting: SortedByChange = None
