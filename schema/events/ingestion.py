"""Events that workspaces send: in batches, each with an optional cost."""

import re
from decimal import Decimal
from math import isfinite
from typing import Annotated, Any

import strawberry
from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from schema.customers.members import ExternalId
from schema.events.events import LABELS
from schema.kit.base import Input, Output, graphql_input, graphql_type
from schema.kit.fields import WorkspaceIdInput
from schema.kit.metadata import Metadata, MetadataPairs
from schema.values.scalars import DECIMALS, SCALARS, Id, Int, MomentInput, check_text
from storage.enums import Currency

MOST_EVENTS = 1_000
COST_DIGITS = 12
_TOO_LARGE = 10**COST_DIGITS
_PLAIN_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_LONGEST_DECIMAL = 100
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def _check_name(name: str) -> str:
    if name in LABELS:
        raise PydanticCustomError(
            "reserved", "This name is reserved for events of the service; choose another"
        )
    if name.isascii() and name.isprintable():
        return name
    check_text(name)
    if _CONTROL.search(name):
        raise PydanticCustomError("string_control", "Input should not contain control characters")
    return name


def _read_decimal(value: Any) -> Decimal:
    """The exact decimal of a number; of a double, the shortest decimal that reads back as the same double."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise PydanticCustomError("decimal_type", "Input should be a number or a decimal string")
    if isinstance(value, str):
        if len(value) > _LONGEST_DECIMAL or not _PLAIN_DECIMAL.fullmatch(value):
            raise PydanticCustomError("decimal_parsing", "Input should be a decimal like `12.5`")
    elif isinstance(value, float) and not isfinite(value):
        raise PydanticCustomError("finite_number", "Input should be a finite number")
    return Decimal(repr(value) if isinstance(value, float) else value)


def _check_cost(amount: Decimal) -> Decimal:
    if amount < 0:
        raise PydanticCustomError("greater_than_equal", "Input should be greater than or equal to 0")
    if amount >= _TOO_LARGE:
        raise PydanticCustomError(
            "decimal_whole_digits", "Input should have at most 12 digits before the point"
        )
    exponent = amount.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -COST_DIGITS:
        raise PydanticCustomError("decimal_max_places", "Input should have at most 12 digits after the point")
    return amount


SCALARS[Decimal] = strawberry.scalar(
    name="Decimal",
    description="An exact decimal: a string like `12.5`, or a number, which stands for its shortest decimal.",
    specified_by_url=DECIMALS,
    serialize=str,
    parse_value=lambda value: value,
)

CostAmount = Annotated[
    Decimal,
    Field(
        description="An amount in minor units, 0 or more: a decimal string or a number, with at most 12 "
        "digits before the point and 12 after it."
    ),
    BeforeValidator(_read_decimal),
    AfterValidator(_check_cost),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0, "exclusiveMaximum": _TOO_LARGE},
                {"type": "string", "pattern": r"^[0-9]{1,12}(\.[0-9]{1,12})?$"},
            ]
        }
    ),
]


@graphql_input
class EventCost(Input):
    """The cost of an event to the workspace."""

    amount: CostAmount
    currency: Currency


@graphql_input
class EventCreate(Input):
    """An event in the workspace's own systems.

    It belongs to a customer, by `customer_id`, or to a person by `external_customer_id`, who need not be a
    customer yet.
    """

    name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=128,
            description="The kind of event, without control characters and not one of the service's own.",
        ),
        AfterValidator(_check_name),
    ]
    timestamp: Annotated[
        MomentInput | None,
        Field(description="The time of the event; the default is now. At most 5 minutes in the future."),
    ] = None
    external_id: Annotated[
        ExternalId | None,
        Field(
            description="The event's id in the caller's system, unique in the workspace; a repeated id "
            "changes nothing."
        ),
    ] = None
    customer_id: Annotated[Id | None, Field(description="The customer that the event belongs to.")] = None
    external_customer_id: Annotated[
        ExternalId | None,
        Field(
            description="The id, in the caller's system, of the customer or other person that the event "
            "belongs to. Together with `customer_id` it must be the customer's external id."
        ),
    ] = None
    member_id: Annotated[Id | None, Field(description="The acting member of the customer.")] = None
    external_member_id: Annotated[
        ExternalId | None,
        Field(
            description="The acting member's id in the caller's system; not checked if no customer has the "
            "`external_customer_id` yet."
        ),
    ] = None
    share_id: Annotated[Id | None, Field(description="The share that the event is about.")] = None
    parent_id: Annotated[
        ExternalId | None,
        Field(
            description="The parent event: the `external_id` of an event in the same batch, or the `id` or "
            "`external_id` of an earlier event."
        ),
    ] = None
    metadata: Metadata = Field(default_factory=lambda: MetadataPairs({}))
    cost: EventCost | None = None


@graphql_input
class EventIngest(Input):
    """A batch of events, stored as a whole or not at all."""

    events: Annotated[list[EventCreate], Field(min_length=1, max_length=MOST_EVENTS)]
    workspace_id: WorkspaceIdInput = None


@graphql_type
class EventIngestResult(Output):
    """The outcome of a batch of events."""

    inserted: Annotated[Int, Field(description="The number of new events.")]
    duplicates: Annotated[
        Int,
        Field(
            description="The number of events ignored because their `external_id` was stored before or is "
            "earlier in the batch."
        ),
    ]
    # By default empty, as in answers to an Idempotency-Key that were kept before there were ids.
    ids: Annotated[
        list[Id],
        Field(
            description="The ids of the events in the order in which they were sent; of an ignored one, the "
            "id of the event that was stored before."
        ),
    ] = Field(default_factory=list)
