"""Changes: what happened to the resources of a workspace, in the order in which readers follow it."""

import re
from collections.abc import Collection
from typing import Annotated, Any, ClassVar, NewType

import strawberry
from pydantic import AfterValidator, Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError

from schema.kit.base import Filters, Output, graphql_type
from schema.kit.fields import WorkspaceId
from schema.kit.pages import MOST_PER_PAGE
from schema.values.scalars import OBJECTS, SCALARS, Id, Moment
from storage.changes.kinds import ChangeKind
from storage.enums import ActorKind

# Numbers of 64 bits, so that positions sort as texts.
DIGITS = 19
FOLLOWED_AT_A_TIME = 50
POSITION = f"^[0-9]{{{DIGITS}}}$"


def _check_position(value: str) -> str:
    if re.fullmatch(POSITION, value) is None:
        message = f"Input should be a position of the feed: {DIGITS} digits"
        raise PydanticCustomError("position", message)
    return value


Position = Annotated[str, AfterValidator(_check_position)]

_ABOUT_KINDS = "What happened to which resource."
strawberry.enum(ActorKind)
strawberry.enum(ChangeKind, description=_ABOUT_KINDS)
for _value in ChangeKind.__strawberry_definition__.values:  # type: ignore[attr-defined]
    _value.description = ChangeKind[_value.name].description


class _Described:
    """Lists the kinds with their descriptions in OpenAPI, which has none for the values of an enum."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        written = handler(schema)
        listed = "\n".join(f"- `{kind}`: {kind.description}" for kind in ChangeKind)
        handler.resolve_ref_schema(written)["description"] = f"{_ABOUT_KINDS}\n\n{listed}"
        return written


Kind = Annotated[ChangeKind, _Described()]
ResourceData = NewType("ResourceData", dict[str, Any])

SCALARS[ResourceData] = strawberry.scalar(
    name="JSON",
    description="A resource as REST writes it.",
    specified_by_url=OBJECTS,
    serialize=lambda value: value,
)


def write_position(number: int) -> str:
    """The text of a position."""
    return f"{number:0{DIGITS}}"


@graphql_type
class ChangeActor(Output):
    """Who made a change."""

    kind: Annotated[ActorKind, Field(description="`system` is the service itself, `operator` a command.")]
    id: Annotated[
        Id | None, Field(description="The id of the user, token, client or customer; null for the others.")
    ]
    name: Annotated[
        str | None,
        Field(
            description="The present name of the user, client or customer, or the token's comment; null if "
            "there is none, and for a customer without the scope that reads it."
        ),
    ]


@graphql_type
class Change(Output):
    """A change of a resource that was committed."""

    id: Annotated[Id, Field(description="The id of the change.")]
    position: Annotated[
        str,
        Field(description="Its place in the workspace's log: that of a later change sorts behind it."),
    ]
    kind: Annotated[Kind, Field(description="What happened to which resource.")]
    resource: Annotated[str, Field(description="The kind of the resource, like `share`.")]
    resource_id: Annotated[Id | None, Field(description="The id of the resource; null for a batch.")]
    workspace_id: WorkspaceId
    at: Annotated[Moment, Field(description="The time of the change.")]
    actor: ChangeActor
    data: Annotated[
        ResourceData | None,
        Field(
            description="The resource as REST reads it now, which later changes may have changed again; null "
            "if it is gone. Of a batch, its `count` of items."
        ),
    ]


@graphql_type
class ChangePageMeta(Output):
    """Where a page of changes ends."""

    next_cursor: Annotated[
        str,
        Field(description="The value of `after` for the changes that follow, also those still to be made."),
    ]
    has_more: Annotated[bool, Field(description="Whether changes follow already.")]


@graphql_type
class ChangePage(Output):
    """Changes in the order of their positions."""

    data: list[Change]
    meta: ChangePageMeta


@graphql_type
class LatestChange(Output):
    """Where the change log ends."""

    position: Annotated[
        str, Field(description="The position of the newest change; of an empty log, one before all others.")
    ]


ChangesOf = Annotated[
    Id | None,
    Field(description="The workspace; optional with access to only one workspace."),
]


class LatestChangeQuery(Filters):
    """The arguments of the newest position."""

    workspace_id: ChangesOf = None

    @classmethod
    def selecting(cls) -> Collection[str]:
        return ("workspace_id",)


class _ChosenChanges(LatestChangeQuery):
    """What the feed and its stream can be asked for."""

    may_be_gone: ClassVar[bool] = True

    after: Annotated[
        Position | None,
        Field(
            json_schema_extra={"pattern": POSITION},
            description="The position after which the page begins: the last `next_cursor`. Without it, the "
            "page begins with the oldest change that is kept.",
        ),
    ] = None
    kind: Annotated[
        list[Kind] | None,
        Field(
            max_length=len(ChangeKind),
            description="Only changes of these kinds; the default is all that the credential may read.",
        ),
    ] = None
    resource_id: Annotated[Id | None, Field(description="Only changes of the resource with this id.")] = None

    @classmethod
    def selecting(cls) -> Collection[str]:
        return ("workspace_id", "kind", "resource_id")


class ChangeQuery(_ChosenChanges):
    """The arguments of the feed of changes."""

    paged: ClassVar[bool] = True

    limit: Annotated[
        int,
        Field(
            ge=1,
            le=MOST_PER_PAGE,
            description="The number of changes per page, which may have fewer although more follow.",
        ),
    ] = 50


class ChangeStreamQuery(_ChosenChanges):
    """The arguments of the stream of changes."""

    after: Annotated[
        Position | None,
        Field(
            json_schema_extra={"pattern": POSITION},
            description="The position after which the stream begins; `Last-Event-ID` takes its place. "
            "Without them, it begins with the next change that is made.",
        ),
    ] = None
