"""Workspaces, as callers see them."""

from typing import Annotated

import strawberry
from pydantic import Field

from schema.base import Resource, graphql_type
from schema.fields import CreatedAt, ModifiedAt
from storage.enums import Currency, WorkspaceStatus

strawberry.enum(Currency)
strawberry.enum(WorkspaceStatus)

WorkspaceName = Annotated[
    str,
    Field(
        min_length=3, max_length=256, description="Shown in the storefront, the customer portal and e-mails."
    ),
]


@graphql_type
class Workspace(Resource):
    """A tenant: the owner of shares, customers, files and events."""

    created_at: CreatedAt
    modified_at: ModifiedAt
    name: WorkspaceName
    slug: str
    default_presentment_currency: Currency
    status: WorkspaceStatus
