"""Webhook endpoints: the URLs that a workspace has told of its changes."""

from typing import Annotated, ClassVar

import strawberry
from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError

from schema.kit.base import Input, Output, Resource, Update, graphql_input, graphql_type
from schema.kit.fields import CreatedAt, ModifiedAt, WorkspaceId, WorkspaceIdFilter, WorkspaceIdInput
from schema.kit.pages import ListQuery, SortedByCreation
from schema.values.endpoints import RULE, is_endpoint
from schema.values.names import NAMED
from schema.values.scalars import Bool
from storage.changes.kinds import ChangeKind

ALL = "*"
LONGEST_PAYLOAD_DOCUMENT = 8 * 1024
_KINDS = [ALL, *(kind.value for kind in ChangeKind)]


def _check_url(url: str) -> str:
    if not is_endpoint(url):
        raise PydanticCustomError("webhook_url", "{rule}", {"rule": RULE})
    return url


def _check_kind(kind: str) -> str:
    if kind not in _KINDS:
        raise PydanticCustomError(
            "kind", "Input should be a kind of change, like `share.created`, or `*` for all"
        )
    return kind


def _check_kinds(kinds: list[str]) -> list[str]:
    """The kinds in the order of their declaration, each once. Raises if `*` is not alone."""
    if ALL in kinds and len(set(kinds)) > 1:
        raise PydanticCustomError("all_kinds", "Input should be `*` alone, which has all kinds")
    return sorted(set(kinds), key=_KINDS.index)


EndpointUrl = Annotated[
    str,
    Field(
        min_length=1,
        max_length=2083,
        json_schema_extra={"format": "uri"},
        description="The https URL that receives the changes, by POST. In development it may be http on "
        "127.0.0.1, [::1] or localhost.",
    ),
]
_KINDS_DESCRIPTION = (
    "The kinds of changes to tell: those of the change log. `*` alone stands for all that `scopes` read."
)
_Kind = Annotated[str, Field(json_schema_extra={"enum": _KINDS}), AfterValidator(_check_kind)]
Kinds = Annotated[
    list[_Kind],
    Field(min_length=1, max_length=len(_KINDS), description=_KINDS_DESCRIPTION),
    AfterValidator(_check_kinds),
]
EndpointUrlInput = Annotated[EndpointUrl, AfterValidator(_check_url)]
Description = Annotated[str | None, Field(max_length=1000, description="A note on what the endpoint is for.")]
DescriptionInput = Annotated[Description, NAMED]
Document = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=LONGEST_PAYLOAD_DOCUMENT,
        description="A GraphQL query that chooses the payload's `data`, with the variable `$id: ID!`, the "
        "resource, or none. It reads what `scopes` read, and costs at most 100. Without it, `data` is the "
        "resource as REST reads it.",
    ),
]
IsEnabled = Annotated[Bool, Field(description="Whether changes are told to the endpoint.")]


@graphql_type
class WebhookEndpoint(Resource):
    """A URL that is told of changes in a workspace."""

    created_at: CreatedAt
    modified_at: ModifiedAt
    workspace_id: WorkspaceId
    url: EndpointUrl
    description: Description
    kinds: Annotated[list[str], Field(description=_KINDS_DESCRIPTION)]
    scopes: Annotated[
        list[str],
        Field(
            description="What the endpoint may be told: the scopes with which its creator could read the "
            "resources of changes, in alphabetical order."
        ),
    ]
    document: Document
    is_enabled: IsEnabled
    disabled_reason: Annotated[
        str | None,
        Field(description="Why the service disabled the endpoint; null if it did not. Enabling clears it."),
    ]


@graphql_type
class WebhookEndpointCreated(Output):
    """A webhook endpoint and its new secret."""

    secret: Annotated[
        str,
        Field(
            description="The key of the signatures, like `whsec_...`, as Standard Webhooks write it. Only "
            "this answer has it."
        ),
    ]
    webhook_endpoint: WebhookEndpoint


@graphql_input
class WebhookEndpointCreate(Input):
    """A new webhook endpoint."""

    url: EndpointUrlInput
    description: DescriptionInput = None
    kinds: Kinds
    document: Document = None
    is_enabled: IsEnabled = True
    workspace_id: WorkspaceIdInput = None


@graphql_input
class WebhookEndpointUpdate(Update):
    """Changes to a webhook endpoint. Fields left out keep their values; `kinds` are replaced as a whole."""

    clears: ClassVar[frozenset[str]] = frozenset({"description", "document"})
    reads: ClassVar[type[BaseModel] | None] = WebhookEndpoint

    url: strawberry.Maybe[EndpointUrlInput | None]
    description: strawberry.Maybe[DescriptionInput]
    kinds: strawberry.Maybe[Kinds | None]
    document: strawberry.Maybe[Document]
    is_enabled: strawberry.Maybe[IsEnabled | None]


class WebhookEndpointQuery(ListQuery):
    """The arguments of the list of webhook endpoints."""

    workspace_id: WorkspaceIdFilter = None
    sorting: SortedByCreation = None
