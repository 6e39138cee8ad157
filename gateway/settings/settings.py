"""All settings of an operator, composed from one module for each topic."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from gateway.settings.database import DatabaseSettings
from gateway.settings.files import FileSettings
from gateway.settings.limits import LimitSettings
from gateway.settings.logs import LogSettings
from gateway.settings.mail import MailSettings
from gateway.settings.monitoring import MonitoringSettings
from gateway.settings.server import Environment, ServerSettings
from gateway.settings.sign_in import SignInSettings
from gateway.settings.values.secret_file import kept_secret
from gateway.settings.values.secret_strength import is_guessable
from gateway.settings.values.value_files import ValueFileError, with_values_of_files
from gateway.settings.webhooks import WebhookSettings
from rest_compat.routing.paths import PREFIX as PREFIX_OF_REST
from storage.operator_errors import OperatorError
from storage.sealing import Secret

PREFIX = "DUOGRAPH_"
# In the order of docs/settings.md. The docstring of a topic is its heading there.
TOPICS: tuple[type[BaseModel], ...] = (
    ServerSettings,
    DatabaseSettings,
    FileSettings,
    LimitSettings,
    SignInSettings,
    MailSettings,
    LogSettings,
    MonitoringSettings,
    WebhookSettings,
)


class SettingsError(OperatorError):
    """A setting that cannot be used; the message names it and says what to do."""


class Settings(
    ServerSettings,
    DatabaseSettings,
    FileSettings,
    LimitSettings,
    SignInSettings,
    MailSettings,
    LogSettings,
    MonitoringSettings,
    WebhookSettings,
):
    """Read once, by `create_app` or a command; no other module reads the environment.

    A variable's name is `DUOGRAPH_` and the field's name in capitals; with `_FILE` behind it, the value is in
    a file. An empty variable counts as unset. An unknown one stops the start, so that a misspelled name is
    noticed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] = os.environ, **defaults: Any) -> Self:
        """The settings in `environ`; `defaults` replace the fields' own. Raises `SettingsError`."""
        try:
            environ = with_values_of_files(environ, frozenset(map(variable_of, cls.model_fields)))
        except ValueFileError as error:
            raise SettingsError(str(error)) from None
        ours = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in environ.items()
            if name.startswith(PREFIX)
        }
        unknown = ours.keys() - cls.model_fields.keys()
        values = {name: value for name, value in ours.items() if value or name in unknown}
        try:
            settings = cls(**{**defaults, **values})
        except ValidationError as error:
            raise SettingsError("; ".join(_explain(entry) for entry in error.errors())) from None
        if settings.env == Environment.PRODUCTION:
            settings._check_for_production(is_base_url_set="base_url" in values)
        return settings

    def _check_for_production(self, *, is_base_url_set: bool) -> None:
        """Raises `SettingsError` for values that only suit development."""
        if self.secret_key is None:
            raise SettingsError(
                "DUOGRAPH_SECRET_KEY is not set: production needs a key of 32 characters or more."
            )
        if is_guessable(self.secret_key.get_secret_value()):
            raise SettingsError(
                "DUOGRAPH_SECRET_KEY can be guessed: create a random key, for example with "
                "`openssl rand -hex 32`."
            )
        if not is_base_url_set:
            raise SettingsError(
                "DUOGRAPH_BASE_URL is not set: production needs the public address of REST, such as "
                "https://api.example.com/api."
            )
        for name in ("base_url", "auth_url"):
            if not self.insecure_http and (getattr(self, name) or "").startswith("http:"):
                raise SettingsError(
                    f"{variable_of(name)} is an http address, which exposes passwords and tokens: use https, "
                    "or set DUOGRAPH_INSECURE_HTTP=true on a private network."
                )

    @property
    def sign_in_url(self) -> str:
        """The address of the pages: `auth_url`, or `base_url` without `/api`."""
        return self.auth_url or self.base_url.removesuffix(PREFIX_OF_REST)

    def secret(self) -> Secret:
        """The secret key, with those accepted; development creates one and keeps it in `var/secret-key`."""
        key = self.secret_key
        current = kept_secret() if key is None else key.get_secret_value().encode()
        return Secret(current, [each.get_secret_value().encode() for each in self.accepted_secret_keys])


class Description(NamedTuple):
    """A setting as the documentation shows it; `default` is empty if there is none."""

    variable: str
    default: str
    text: str


def variable_of(field: str) -> str:
    return PREFIX + field.upper()


def describe_settings() -> Iterator[tuple[str, list[Description]]]:
    """The heading of each topic with its settings."""
    for topic in TOPICS:
        yield topic.__doc__ or "", [_describe(name) for name in topic.model_fields]


def _describe(name: str) -> Description:
    field = Settings.model_fields[name]
    default = "" if field.default is None else str(field.default)
    if isinstance(field.default, bool):
        default = default.lower()
    if isinstance(field.default, tuple):
        default = ", ".join(map(str, field.default))
    return Description(variable_of(name), default, field.description or "")


def _explain(entry: Any) -> str:
    name = variable_of(str(entry["loc"][0]))
    if entry["type"] == "extra_forbidden":
        return f"{name} is not a setting: correct its name or unset it."
    cause = (entry.get("ctx") or {}).get("error")
    return f"{name} cannot be used: {cause or entry['msg']}."
