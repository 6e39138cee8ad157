"""Browser sessions, as callers see them."""

from typing import Annotated

from pydantic import Field

from schema.base import Resource, graphql_type
from schema.fields import CreatedAt
from schema.pages import ListQuery, SortedByCreation
from schema.scalars import Id, Moment


@graphql_type
class BrowserSession(Resource):
    """A browser in which a user is signed in."""

    created_at: CreatedAt
    user_id: Id
    user_agent: Annotated[str | None, Field(description="What the browser said it is, when it signed in.")]
    address: Annotated[
        str | None, Field(description="Where it signed in from: an IPv4 address, or an IPv6 network.")
    ]
    expires_at: Annotated[Moment, Field(description="When it ends.")]
    last_used_at: Annotated[Moment | None, Field(description="At most a minute behind; null if never.")]


class BrowserSessionQuery(ListQuery):
    """How the list of a user's sessions is read."""

    sorting: SortedByCreation = None
