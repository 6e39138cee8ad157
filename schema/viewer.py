"""The caller, as told by its own credential."""

from typing import Annotated

import strawberry
from pydantic import Field

from oauth.principals import PrincipalKind
from schema.base import Output, graphql_type
from schema.scalars import Id, Moment

strawberry.enum(PrincipalKind)


@graphql_type
class ViewerUser(Output):
    """The person behind the credential."""

    id: Id
    email: Annotated[
        str | None,
        Field(description="An OAuth token sees it with the scope `email` or `user:read`; else null."),
    ]
    name: Annotated[
        str | None,
        Field(description="An OAuth token sees it with the scope `profile` or `user:read`; else null."),
    ]


@graphql_type
class ViewerWorkspace(Output):
    """The one workspace that the credential reaches."""

    id: Id
    name: str
    slug: str


@graphql_type
class Viewer(Output):
    """Who the credential speaks for, and what it may do."""

    kind: Annotated[PrincipalKind, Field(description="What sort of credential it is.")]
    scopes: Annotated[list[str], Field(description="What it was granted, in alphabetical order.")]
    expires_at: Annotated[Moment | None, Field(description="When it ends; null if it does not.")]
    user: Annotated[ViewerUser | None, Field(description="Null for a workspace's and a customer's own.")]
    workspace: Annotated[
        ViewerWorkspace | None, Field(description="Null where it reaches all workspaces of its user.")
    ]
    customer_id: Annotated[Id | None, Field(description="The customer, for a customer's own credential.")]
