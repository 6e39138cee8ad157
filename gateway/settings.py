"""Everything an operator can set, and nothing else."""

import os
import secrets
from collections.abc import Mapping
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from gateway.addresses import parse_trusted

PREFIX = "DUOGRAPH_"


class Environment(StrEnum):
    DEVELOPMENT = "development"
    PRODUCTION = "production"


class SettingsError(Exception):
    """A setting that cannot be used; the text says which and what to do."""


class Settings(BaseModel):
    """Read once, by `create_app` or a command; no other module looks at the environment.

    Every variable is named `DUOGRAPH_` plus the field in capitals. One that names no field stops the
    start, so that a misspelt one cannot be ignored in silence.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    env: Annotated[
        Environment, Field(description="`production` refuses to start with a generated secret.")
    ] = Environment.DEVELOPMENT
    database_url: Annotated[
        str,
        Field(
            description="`sqlite+aiosqlite:///PATH` or `postgresql+asyncpg://USER:PASSWORD@HOST/NAME`.",
            pattern=r"^(sqlite\+aiosqlite|postgresql\+asyncpg)://",
        ),
    ] = "sqlite+aiosqlite:///var/duograph.sqlite"
    database_read_url: Annotated[
        str | None, Field(description="A replica that serves metrics, events and exports.")
    ] = None
    database_pool_size: Annotated[int, Field(ge=1, le=500, description="Connections a process keeps.")] = 20
    redis_url: Annotated[
        str | None, Field(description="One rate-limit budget for all processes; without it each has its own.")
    ] = None
    object_store: Annotated[str, Field(description="A directory for uploaded files.")] = "var/objects"
    base_url: Annotated[
        str, Field(description="Where callers find REST, without a slash at the end.", pattern=r"^https?://")
    ] = "http://127.0.0.1:8000/api"
    auth_url: Annotated[
        str | None, Field(description="Where people sign in; the base address without `/api`.")
    ] = None
    secret_key: Annotated[
        SecretStr | None,
        Field(description="Signs cursors and addresses; at least 32 characters.", min_length=32),
    ] = None
    rate_limit: Annotated[int, Field(ge=0, description="Calls a minute and subject; 0 turns it off.")] = 500
    rate_limit_restricted: Annotated[
        int, Field(ge=0, description="The same for sign-in, portal codes and token exchange.")
    ] = 60
    trusted_proxies: Annotated[
        tuple[IPv4Network | IPv6Network, ...],
        Field(description="Networks of proxies whose X-Forwarded-For counts, separated by commas."),
    ] = ()
    max_size_downloadable: Annotated[int, Field(ge=1, description="Bytes.")] = 5 * 1024**3
    max_size_product_media: Annotated[int, Field(ge=1, description="Bytes.")] = 10 * 1024**2
    max_size_workspace_avatar: Annotated[int, Field(ge=1, description="Bytes.")] = 1024**2
    log_format: Annotated[str, Field(pattern="^(console|json)$", description="`console` or `json`.")] = (
        "console"
    )

    @field_validator("trusted_proxies", mode="before")
    @classmethod
    def _parse_networks(cls, value: Any) -> Any:
        return parse_trusted(value) if isinstance(value, str) else value

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] = os.environ, **given: Any) -> Self:
        """The settings in `environ`, `given` ones first. Raises `SettingsError`."""
        ours = {
            name.removeprefix(PREFIX).lower(): v for name, v in environ.items() if name.startswith(PREFIX)
        }
        try:
            settings = cls(**{**given, **ours})
        except ValidationError as error:
            raise SettingsError("; ".join(_explain(entry) for entry in error.errors())) from None
        if settings.env == Environment.PRODUCTION and settings.secret_key is None:
            raise SettingsError(
                "DUOGRAPH_SECRET_KEY is not set: production needs one of 32 characters or more."
            )
        return settings

    @property
    def sign_in_url(self) -> str:
        """`auth_url`, or what follows from `base_url`."""
        return (self.auth_url or self.base_url.removesuffix("/").removesuffix("/api")).removesuffix("/")

    def secret(self) -> bytes:
        """The secret key; in development one is made once and kept in `var/secret-key`."""
        if self.secret_key is not None:
            return self.secret_key.get_secret_value().encode()
        path = Path("var/secret-key")
        path.parent.mkdir(exist_ok=True)
        try:
            with path.open("x") as file:
                path.chmod(0o600)
                file.write(secrets.token_hex(32))
        except FileExistsError:
            pass
        return path.read_bytes()


def _explain(entry: Any) -> str:
    name = PREFIX + str(entry["loc"][0]).upper()
    if entry["type"] == "extra_forbidden":
        return f"{name} is not a setting: correct its name or unset it."
    return f"{name} cannot be used: {entry['msg']}."
