"""What clients use of the API: counts of each client, surface and part of the contract."""

from typing import Annotated

import strawberry
from pydantic import AfterValidator, Field

from schema.kit.base import Output, graphql_type
from schema.kit.fields import WorkspaceId, WorkspaceIdFilter
from schema.kit.pages import ListQuery
from schema.kit.sorting import Sorting
from schema.values.dates import LocalDate, check_order
from schema.values.scalars import Id, LongInt, Moment
from storage.enums import ClientKind, UsageKind, UsageSurface

strawberry.enum(ClientKind)
strawberry.enum(UsageKind)
strawberry.enum(UsageSurface)


@graphql_type
class UsageCount(Output):
    """How many requests of a client used one part of the API in the chosen days."""

    workspace_id: WorkspaceId
    client_kind: Annotated[
        ClientKind,
        Field(
            description="An OAuth client with all its tokens, one token of the workspace, all sessions of "
            "customers together, or the clients beyond 100 on one day."
        ),
    ]
    client_id: Annotated[
        Id | None,
        Field(description="The id of the OAuth client or of the token; null for the other kinds."),
    ]
    client_name: Annotated[
        str | None, Field(description="The OAuth client's name or the token's comment; null if it is gone.")
    ]
    surface: Annotated[UsageSurface, Field(description="The surface that was called.")]
    kind: Annotated[UsageKind, Field(description="What was used.")]
    name: Annotated[
        str,
        Field(
            description="The coordinate in the surface's contract: `Query.shares`, `Share.name`, "
            "`Query.shares(limit:)` and `ShareCreate.name` in GraphQL, `GET /api/shares/`, "
            "`GET /api/shares/?limit` and `POST /api/shares/#prices.price_amount` in REST."
        ),
    ]
    is_deprecated: Annotated[bool, Field(description="Whether the part is deprecated.")]
    requests: Annotated[LongInt, Field(description="The number of requests that used it.")]
    last_used_at: Annotated[
        Moment, Field(description="The time of the last use, at most `DUOGRAPH_USAGE_SECONDS` earlier.")
    ]


class UsageSorting(Sorting, keys=("requests", "last_used_at", "name")): ...


class UsageQuery(ListQuery):
    """The arguments of the list of usage."""

    workspace_id: WorkspaceIdFilter = None
    client_id: Annotated[
        list[Id] | None, Field(max_length=100, description="Only these OAuth clients and tokens.")
    ] = None
    surface: Annotated[list[UsageSurface] | None, Field(max_length=2, description="Only these surfaces.")] = (
        None
    )
    kind: Annotated[list[UsageKind] | None, Field(max_length=4, description="Only parts of these kinds.")] = (
        None
    )
    name: Annotated[
        list[Annotated[str, Field(max_length=256)]] | None,
        Field(max_length=100, description="Only the parts with these coordinates."),
    ] = None
    is_deprecated: Annotated[
        bool | None, Field(description="Only parts that are deprecated, or only others.")
    ] = None
    start_date: Annotated[LocalDate | None, Field(description="The first day, in UTC.")] = None
    end_date: Annotated[
        LocalDate | None,
        Field(description="The last day, in UTC."),
        AfterValidator(check_order),
    ] = None
    sorting: Annotated[
        list[UsageSorting] | None,
        Field(max_length=4, description="The sort keys in order; the default is `-requests`."),
    ] = None
