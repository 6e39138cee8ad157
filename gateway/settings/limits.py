"""Settings of rate limits, and of the rows that a workspace may have."""

from typing import Annotated, cast

from pydantic import BaseModel, Field

from gateway.settings.row_quotas import BYTE_QUOTAS, ROW_QUOTAS, ByteQuotas, Quotas, write_quotas
from gateway.settings.values.types import RedisUrl
from storage.retention.rules import CHANGES_KEPT_FOR


class LimitSettings(BaseModel):
    """Limits of requests and rows"""

    rate_limit: Annotated[
        int, Field(ge=0, description="Calls that each subject may make in any minute; 0 for no limit.")
    ] = 500
    rate_limit_restricted: Annotated[
        int,
        Field(
            ge=0,
            description="Calls in any minute for sign-in, emailed links, portal codes and token exchange; 0 "
            "for no limit.",
        ),
    ] = 60
    rate_limit_milliseconds: Annotated[
        int,
        Field(
            ge=0,
            description="How long the database works for one call, with what is made for a new form of a "
            "list or a new document: a request that takes longer costs a further call for each so many "
            "milliseconds; 0 for no charge.",
        ),
    ] = 100
    row_quotas: Annotated[
        Quotas,
        Field(
            description="Rows of each kind that a workspace may have, such as `events=500000000, shares=0`; "
            "0 for no limit. Kinds that are not named keep their defaults, and `duograph limits set` sets "
            "those of one workspace.",
            validate_default=True,
        ),
    ] = cast(Quotas, write_quotas(ROW_QUOTAS))
    byte_quotas: Annotated[
        ByteQuotas,
        Field(
            description="Bytes of texts and metadata that the rows of a kind may have in a workspace: "
            "metadata of events; descriptions and metadata of shares; addresses and metadata of customers; "
            "properties and metadata of custom fields. Written like `DUOGRAPH_ROW_QUOTAS`.",
            validate_default=True,
        ),
    ] = cast(ByteQuotas, write_quotas(BYTE_QUOTAS))
    changes_days: Annotated[
        int,
        Field(
            ge=1,
            le=3650,
            description="Days for which changes are kept for readers of the feed, who have to read the lists "
            "again after a longer pause.",
        ),
    ] = CHANGES_KEPT_FOR.days
    redis_url: Annotated[
        RedisUrl | None,
        Field(
            description="`redis://HOST/0`, which shares rate limits between processes; without it, each "
            "process counts its own."
        ),
    ] = None
