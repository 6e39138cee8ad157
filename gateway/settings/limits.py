"""Settings of rate limits."""

from typing import Annotated

from pydantic import BaseModel, Field

from gateway.settings.types import RedisUrl


class LimitSettings(BaseModel):
    """Rate limits"""

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
            description="How long the database works for one call: a request that takes it longer costs a "
            "further call for each so many milliseconds; 0 for no charge.",
        ),
    ] = 100
    redis_url: Annotated[
        RedisUrl | None,
        Field(
            description="`redis://HOST/0`, which shares rate limits between processes; without it, each "
            "process counts its own."
        ),
    ] = None
