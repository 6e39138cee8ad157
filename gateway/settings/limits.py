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
    redis_url: Annotated[
        RedisUrl | None,
        Field(
            description="`redis://HOST/0`, which shares rate limits between processes; without it, each "
            "process counts its own."
        ),
    ] = None
