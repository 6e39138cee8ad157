"""The calls that open a metric's number: which lists have the rows that it counts."""

from enum import StrEnum
from typing import Annotated

import strawberry
from pydantic import Field

from schema.kit.base import Output, graphql_type
from storage.metrics.definitions import MetricSlug


@strawberry.enum
class RowsPart(StrEnum):
    """What the rows are of the number: added up, subtracted, or what the rest is divided by."""

    ADDED = "added"
    SUBTRACTED = "subtracted"
    DIVISOR = "divisor"


@strawberry.enum
class RowsValue(StrEnum):
    """What counts of each row: the row itself, one of its fields, or for people each of them once.

    A person is the `customer_id`, or without one the `external_customer_id`; rows with neither do not count.
    """

    ROWS = "rows"
    PEOPLE = "people"
    AMOUNT = "amount"
    PLATFORM_FEE = "platform_fee"
    PRICE_AMOUNT = "price_amount"
    FILE_SIZE_BYTES = "file_size_bytes"
    COST = "cost"


@graphql_type
class MetricRows(Output):
    """The call that lists rows of which a metric's total is made."""

    slug: Annotated[MetricSlug, Field(description="The metric.")]
    part: RowsPart
    value: RowsValue
    path: Annotated[
        str,
        Field(
            description="The path of the list in REST, like `/api/file-share-payments/`.",
            json_schema_extra={"example": "/api/file-share-payments/"},
        ),
    ]
    query: Annotated[
        str,
        Field(
            description="Its parameters, for after the `?`; those of pages and sorting may be added.",
            json_schema_extra={"example": "start_date=2026-10-01&end_date=2026-10-31&timezone=UTC"},
        ),
    ]
