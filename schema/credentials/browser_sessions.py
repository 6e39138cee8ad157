"""Browser sessions."""

from typing import Annotated

from pydantic import Field

from schema.kit.base import Resource, graphql_type
from schema.kit.fields import CreatedAt
from schema.kit.pages import ListQuery, SortedByCreation
from schema.values.scalars import Id, Moment


@graphql_type
class BrowserSession(Resource):
    """A browser in which a user is signed in."""

    created_at: CreatedAt
    user_id: Id
    user_agent: Annotated[str | None, Field(description="The browser's `User-Agent` header at sign-in.")]
    address: Annotated[str | None, Field(description="The IPv4 address or IPv6 network of the sign-in.")]
    expires_at: Annotated[Moment, Field(description="The time of expiry.")]
    last_used_at: Annotated[
        Moment | None,
        Field(description="The time of the last use, at most a minute behind; null if never used."),
    ]


class BrowserSessionQuery(ListQuery):
    """The arguments of the list of the user's sessions."""

    sorting: SortedByCreation = None
