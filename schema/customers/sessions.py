"""Customer sessions, which give a customer access to the portal."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from schema.customers.customers import Customer
from schema.customers.members import ExternalId
from schema.kit.base import Input, Output, graphql_input, graphql_type
from schema.kit.fields import CreatedAt, ModifiedAt, WorkspaceIdInput
from schema.values.app_links import ReturnUrl
from schema.values.scalars import Id, Moment


@graphql_type
class CustomerSession(Output):
    """Access to the customer portal for one hour."""

    id: Id
    created_at: CreatedAt
    modified_at: ModifiedAt
    token: Annotated[str, Field(description="The customer access token. Only this answer has it.")]
    expires_at: Moment
    return_url: Annotated[str | None, Field(description="The target of the portal's back button.")]
    customer_portal_url: Annotated[
        str, Field(description="The URL of the portal, with the token that signs the customer in.")
    ]
    customer_id: Id
    customer: Customer


@graphql_input
class CustomerSessionCreate(Input):
    """The customer of a new session, by one of two ids, and for a team optionally a member."""

    external_customer_id: Annotated[
        ExternalId | None, Field(description="The customer's id in the caller's system.")
    ] = None
    customer_id: Annotated[
        Id | None,
        Field(
            validate_default=True, description="The customer's id; required without `external_customer_id`."
        ),
    ] = None
    external_member_id: Annotated[
        ExternalId | None, Field(description="The member's id in the caller's system.")
    ] = None
    member_id: Annotated[
        Id | None,
        Field(
            description="The member who gets access; by default a team's owner. Only for workspaces with "
            "`member_model_enabled`."
        ),
    ] = None
    return_url: Annotated[
        ReturnUrl | None,
        Field(
            description="The target of the portal's back button: an http or https URL, or one with a scheme "
            "of the workspace's `return_url_schemes`."
        ),
    ] = None
    workspace_id: WorkspaceIdInput = None

    @field_validator("customer_id")
    @classmethod
    def _check_customer(cls, id: UUID | None, info: ValidationInfo) -> UUID | None:
        if "external_customer_id" not in info.data:
            return id
        if id is None and info.data["external_customer_id"] is None:
            raise PydanticCustomError("missing", "Send customer_id or external_customer_id")
        if id is not None and info.data["external_customer_id"] is not None:
            raise PydanticCustomError("conflict", "Send customer_id or external_customer_id, not both")
        return id

    @field_validator("member_id")
    @classmethod
    def _check_member(cls, id: UUID | None, info: ValidationInfo) -> UUID | None:
        if id is not None and info.data.get("external_member_id") is not None:
            raise PydanticCustomError("conflict", "Send member_id or external_member_id, not both")
        return id
