"""Settings of the log."""

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, Field


class LogFormat(StrEnum):
    CONSOLE = "console"
    JSON = "json"


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogSettings(BaseModel):
    """Log"""

    log_format: Annotated[
        LogFormat,
        Field(description="`console`, for people, or `json`, one object per line."),
    ] = LogFormat.CONSOLE
    log_level: Annotated[
        LogLevel,
        Field(
            description="`debug`, `info`, `warning` or `error`. No level logs what callers send; `debug` "
            "adds SQL statements without their values, and messages of libraries."
        ),
    ] = LogLevel.INFO
    access_log: Annotated[bool, Field(description="Whether each request writes a line to the log.")] = True
    log_addresses: Annotated[
        bool,
        Field(
            description="Whether the line of a request has the client's network address; of IPv6 only the "
            "network, the first 64 bits. It is personal data: say how long you keep the log."
        ),
    ] = False
    usage_seconds: Annotated[
        int,
        Field(
            ge=1,
            le=3600,
            description="Seconds between two writings of what clients used; a process that is killed loses "
            "what it counted since.",
        ),
    ] = 10
