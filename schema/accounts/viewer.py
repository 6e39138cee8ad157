"""The credential of a request, and its user, workspace or customer."""

from datetime import date
from typing import Annotated

import strawberry
from pydantic import Field

from oauth.principals import PrincipalKind
from schema.kit.base import Output, graphql_type
from schema.kit.deprecation import Deprecation
from schema.values.scalars import Id, Moment
from storage.enums import Language

strawberry.enum(PrincipalKind)

_SINCE, _ENDS = date(2026, 11, 26), date(2027, 11, 26)


@graphql_type
class ViewerUser(Output):
    """The user of the credential, whose id is the viewer's `user_id`."""

    id: Annotated[
        Id,
        Deprecation("Use `user_id` of the viewer.", _SINCE, _ENDS),
        Field(description="The user's id."),
    ]
    email: Annotated[
        str | None,
        Field(
            description="The user's email; for an OAuth token null without the scope `email` or `user:read`."
        ),
    ]
    name: Annotated[
        str | None,
        Field(
            description="The user's name; for an OAuth token null without the scope `profile` or `user:read`."
        ),
    ]
    language: Annotated[
        Language | None,
        Field(
            description="The language of emails to the user and of sign-in pages; null if none was chosen, "
            "and for an OAuth token without the scope `profile` or `user:read`."
        ),
    ]


@graphql_type
class ViewerWorkspace(Output):
    """The only workspace that the credential has access to; its id is the viewer's `workspace_id`."""

    id: Annotated[
        Id,
        Deprecation("Use `workspace_id` of the viewer.", _SINCE, _ENDS),
        Field(description="The workspace's id."),
    ]
    name: str
    slug: str


@graphql_type
class Viewer(Output):
    """The credential of the request: its kind, scopes and owner."""

    kind: Annotated[PrincipalKind, Field(description="The kind of credential.")]
    scopes: Annotated[list[str], Field(description="The granted scopes, in alphabetical order.")]
    expires_at: Annotated[Moment | None, Field(description="The time of expiry; null if it does not expire.")]
    user_id: Annotated[
        Id | None, Field(description="The user of the credential; null for workspace and customer tokens.")
    ]
    user: Annotated[
        ViewerUser | None,
        Field(description="The user of the credential; null for workspace and customer tokens."),
    ]
    workspace_id: Annotated[
        Id | None,
        Field(
            description="The only workspace of the credential; null if it has access to all of the user's."
        ),
    ]
    workspace: Annotated[
        ViewerWorkspace | None,
        Field(
            description="The only workspace of the credential; null if it has access to all of the user's."
        ),
    ]
    customer_id: Annotated[
        Id | None, Field(description="The customer of a customer token; null for other credentials.")
    ]
