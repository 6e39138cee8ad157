"""Everything an operator can set, and nothing else."""

import os
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, ValidationInfo, field_validator

from gateway.settings.mail_addresses import Sender, SmtpUrl
from gateway.settings.secret_file import kept_secret
from gateway.settings.secret_strength import is_guessable
from gateway.settings.types import (
    SQLITE_START,
    DatabaseUrl,
    MailsOfUser,
    MailsOfWorkspace,
    MailsToRecipient,
    Networks,
    ObjectPlace,
    RedisUrl,
    SecretKey,
    WebAddress,
)

PREFIX = "DUOGRAPH_"


class Environment(StrEnum):
    DEVELOPMENT = "development"
    PRODUCTION = "production"


class LogFormat(StrEnum):
    CONSOLE = "console"
    JSON = "json"


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class SettingsError(Exception):
    """A setting that cannot be used; the text says which and what to do."""


class Settings(BaseModel):
    """Read once, by `create_app` or a command; no other module looks at the environment.

    Every variable is named `DUOGRAPH_` plus the field in capitals; an empty one is as if unset. One that
    names no field stops the start, so that a misspelt one cannot be ignored in silence.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    env: Annotated[
        Environment,
        Field(
            description="`development`, or `production`, which needs a `DUOGRAPH_SECRET_KEY` and a "
            "`DUOGRAPH_BASE_URL` at https."
        ),
    ] = Environment.DEVELOPMENT
    database_url: Annotated[
        DatabaseUrl,
        Field(
            description="`sqlite:///PATH` (`sqlite:////PATH` for an absolute one) or "
            "`postgresql://USER:PASSWORD@HOST/NAME`; naming the driver too does no harm."
        ),
    ] = "sqlite+aiosqlite:///var/duograph.sqlite"
    database_read_url: Annotated[
        DatabaseUrl | None,
        Field(description="A replica of the database, which then serves metrics, events and exports."),
    ] = None
    database_pool_size: Annotated[
        int, Field(ge=1, le=500, description="Connections that a process keeps to each database, 1 to 500.")
    ] = 20
    redis_url: Annotated[
        RedisUrl | None,
        Field(
            description="`redis://HOST/0`: one rate-limit budget for all processes, which else count alone."
        ),
    ] = None
    object_store: Annotated[
        ObjectPlace,
        Field(
            description="Where uploaded files are kept: a directory, which hosts must share, or "
            "`s3://BUCKET` for S3 and what speaks it."
        ),
    ] = "var/objects"
    s3_endpoint: Annotated[
        WebAddress | None, Field(description="Where the bucket is served, if not by AWS: `https://HOST`.")
    ] = None
    s3_public_endpoint: Annotated[
        WebAddress | None,
        Field(description="The same for callers, if they reach it elsewhere than the gateway."),
    ] = None
    s3_region: Annotated[
        str | None, Field(description="The bucket's region; `AWS_DEFAULT_REGION` or `us-east-1`, if not set.")
    ] = None
    s3_access_key_id: Annotated[
        str | None,
        Field(
            description="With its secret, the credential for S3; if not set, AWS's own variables, files and "
            "roles are asked."
        ),
    ] = None
    s3_secret_access_key: Annotated[
        SecretStr | None,
        Field(description="The secret of `DUOGRAPH_S3_ACCESS_KEY_ID`.", validate_default=True),
    ] = None
    upload_days: Annotated[
        int, Field(ge=1, le=365, description="Days after which an upload that was not completed is dropped.")
    ] = 7
    base_url: Annotated[
        WebAddress,
        Field(
            description="Where callers find REST; `duograph serve` puts its host and port into the default."
        ),
    ] = "http://127.0.0.1:8000/api"
    auth_url: Annotated[
        WebAddress | None,
        Field(
            description="Where callers find the pages and GraphQL: `DUOGRAPH_BASE_URL` without `/api`, if "
            "not set."
        ),
    ] = None
    insecure_http: Annotated[
        bool, Field(description="Whether production may have addresses at http, on a network of its own.")
    ] = False
    secret_key: Annotated[
        SecretKey | None,
        Field(
            description="Signs cursors, addresses and forms, and encrypts signing keys: 32 characters or "
            "more, the same for all processes; development makes one and keeps it in `var/secret-key`. With "
            "another one, authenticator apps and recovery codes stop working."
        ),
    ] = None
    rate_limit: Annotated[
        int, Field(ge=0, description="Calls that each subject may make in any minute; 0 turns the limit off.")
    ] = 500
    rate_limit_restricted: Annotated[
        int, Field(ge=0, description="The same for sign-in, mailed links, portal codes and token exchange.")
    ] = 60
    stall_seconds: Annotated[
        int,
        Field(
            ge=1, le=600, description="Seconds after which a request whose headers or body stall is closed."
        ),
    ] = 30
    sign_up: Annotated[
        bool, Field(description="Whether anyone may sign up; without, operators make users.")
    ] = True
    open_registration: Annotated[
        bool,
        Field(description="Whether anyone may register OAuth clients; without, users and operators do."),
    ] = False
    trusted_proxies: Annotated[
        Networks,
        Field(description="Networks of proxies whose `X-Forwarded-For` counts, separated by commas."),
    ] = ()
    max_size_downloadable: Annotated[
        int, Field(ge=1, description="The largest file of the service `downloadable`, in bytes.")
    ] = 5 * 1024**3
    max_size_product_media: Annotated[
        int, Field(ge=1, description="The largest file of the service `product_media`, in bytes.")
    ] = 10 * 1024**2
    max_size_workspace_avatar: Annotated[
        int, Field(ge=1, description="The largest file of the service `workspace_avatar`, in bytes.")
    ] = 1024**2
    storage_quota: Annotated[
        int, Field(ge=0, description="Bytes a workspace may store, unfinished uploads included; 0 for all.")
    ] = 100 * 1024**3
    open_upload_quota: Annotated[
        int, Field(ge=0, description="The same for uploads that a workspace has not completed.")
    ] = 500
    smtp_url: Annotated[
        SmtpUrl | None,
        Field(
            description="`smtp://USER:PASSWORD@HOST:PORT`, encrypted where the server can (STARTTLS), or "
            "`smtps://`; without it mails are files in `DUOGRAPH_OUTBOX`."
        ),
    ] = None
    outbox: Annotated[str, Field(description="The directory of mails without a server.")] = "var/outbox"
    mail_from: Annotated[
        Sender, Field(description="Whom mails are from: an address, or `NAME <ADDRESS>`.")
    ] = "Duograph <duograph@localhost>"
    mail_rate: Annotated[int, Field(ge=1, description="Mails that a process sends in any minute.")] = 300
    mail_limit_recipient: MailsToRecipient = 20
    mail_limit_workspace: MailsOfWorkspace = 1000
    mail_limit_user: MailsOfUser = 1000
    secret_scanning_keys_url: Annotated[
        WebAddress,
        Field(description="Where the public keys are with which GitHub signs reports of leaked tokens."),
    ] = "https://api.github.com/meta/public_keys/secret_scanning"  # noqa: S105
    log_format: Annotated[
        LogFormat,
        Field(description="`console`, for people, or `json`, one object a line."),
    ] = LogFormat.CONSOLE
    log_level: Annotated[
        LogLevel,
        Field(
            description="`debug`, `info`, `warning` or `error`; no level shows what callers send. `debug` "
            "adds statements without their values, and libraries' messages."
        ),
    ] = LogLevel.INFO
    access_log: Annotated[bool, Field(description="Whether each request leaves a line in the log.")] = True

    @field_validator("s3_secret_access_key")
    @classmethod
    def _check_pair(cls, key: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if (key is None) != (info.data.get("s3_access_key_id") is None):
            raise ValueError("it goes with DUOGRAPH_S3_ACCESS_KEY_ID: set both or neither")
        return key

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] = os.environ, **defaults: Any) -> Self:
        """The settings in `environ`, and `defaults` instead of ours. Raises `SettingsError`."""
        ours = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in environ.items()
            if name.startswith(PREFIX)
        }
        unknown = ours.keys() - cls.model_fields.keys()
        given = {name: value for name, value in ours.items() if value or name in unknown}
        try:
            settings = cls(**{**defaults, **given})
        except ValidationError as error:
            raise SettingsError("; ".join(_explain(entry) for entry in error.errors())) from None
        if settings.env == Environment.PRODUCTION:
            settings._check_for_production(is_base_url_set="base_url" in given)
        return settings

    def _check_for_production(self, *, is_base_url_set: bool) -> None:
        """Raises `SettingsError` for what is good for a laptop only."""
        if self.secret_key is None:
            raise SettingsError(
                "DUOGRAPH_SECRET_KEY is not set: production needs one of 32 characters or more."
            )
        if is_guessable(self.secret_key.get_secret_value()):
            raise SettingsError(
                "DUOGRAPH_SECRET_KEY can be guessed: make a random one, as with `openssl rand -hex 32`."
            )
        if not is_base_url_set:
            raise SettingsError(
                "DUOGRAPH_BASE_URL is not set: production needs the address where callers find REST, like "
                "https://api.example.com/api."
            )
        for name in ("base_url", "auth_url"):
            if not self.insecure_http and (getattr(self, name) or "").startswith("http:"):
                raise SettingsError(
                    f"{variable_of(name)} is at http, which shows passwords and tokens to the network: use "
                    "https, or set DUOGRAPH_INSECURE_HTTP=true if nobody else can read it."
                )

    @property
    def sign_in_url(self) -> str:
        """`auth_url`, or what follows from `base_url`."""
        return self.auth_url or self.base_url.removesuffix("/api")

    @property
    def sqlite_path(self) -> Path | None:
        """The database's file; None for PostgreSQL."""
        if not self.database_url.startswith(SQLITE_START):
            return None
        return Path(self.database_url.removeprefix(SQLITE_START).partition("?")[0])

    def secret(self) -> bytes:
        """The secret key; in development one is made once and kept in `var/secret-key`."""
        if self.secret_key is not None:
            return self.secret_key.get_secret_value().encode()
        return kept_secret()


def variable_of(field: str) -> str:
    return PREFIX + field.upper()


def describe_settings() -> Iterator[tuple[str, str, str]]:
    """The variable, default and description of every setting; the default is empty where there is none."""
    for name, field in Settings.model_fields.items():
        default = "" if field.default in (None, ()) else str(field.default)
        if isinstance(field.default, bool):
            default = default.lower()
        yield variable_of(name), default, field.description or ""


def _explain(entry: Any) -> str:
    name = variable_of(str(entry["loc"][0]))
    if entry["type"] == "extra_forbidden":
        return f"{name} is not a setting: correct its name or unset it."
    cause = (entry.get("ctx") or {}).get("error")
    return f"{name} cannot be used: {cause or entry['msg']}."
