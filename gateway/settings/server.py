"""Settings of the server: its environment, addresses, secret, proxies and connections."""

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, Field

from gateway.settings.values.types import (
    ANY_ORIGIN,
    Hosts,
    Networks,
    Origins,
    SecretKey,
    SecretKeys,
    WebAddress,
)


class Environment(StrEnum):
    DEVELOPMENT = "development"
    PRODUCTION = "production"


class ServerSettings(BaseModel):
    """Server"""

    env: Annotated[
        Environment,
        Field(
            description="`development`, or `production`, which requires a `DUOGRAPH_SECRET_KEY` and an https "
            "`DUOGRAPH_BASE_URL`."
        ),
    ] = Environment.DEVELOPMENT
    base_url: Annotated[
        WebAddress,
        Field(
            description="The public address of REST; the default has the host and port of `duograph serve`."
        ),
    ] = "http://localhost:8000/api"
    auth_url: Annotated[
        WebAddress | None,
        Field(
            description="The public address of the pages and GraphQL; if not set, `DUOGRAPH_BASE_URL` "
            "without `/api`."
        ),
    ] = None
    insecure_http: Annotated[
        bool,
        Field(
            description="Whether production may use http addresses. Only for private networks: passwords and "
            "tokens are then sent unencrypted."
        ),
    ] = False
    secret_key: Annotated[
        SecretKey | None,
        Field(
            description="Signs cursors, addresses and forms, and encrypts signing keys. 32 characters or "
            "more, the same for all processes; development creates one in `var/secret-key`. To replace it, "
            "see `DUOGRAPH_ACCEPTED_SECRET_KEYS`: without that, authenticator apps and recovery codes stop "
            "working."
        ),
    ] = None
    accepted_secret_keys: Annotated[
        SecretKeys,
        Field(
            description="Further secret keys, one on each line: what they signed or sealed is accepted, and "
            "nothing new is. For as long as `DUOGRAPH_SECRET_KEY` is being replaced."
        ),
    ] = ()
    cors_origins: Annotated[
        Origins,
        Field(
            description="Origins of pages that may call the API, GraphQL and the OAuth endpoints from a "
            "browser, separated by commas: `*` for any, `none` for none. Such requests never carry cookies."
        ),
    ] = (ANY_ORIGIN,)
    trusted_proxies: Annotated[
        Networks,
        Field(description="Networks of proxies whose `X-Forwarded-For` is trusted, separated by commas."),
    ] = ()
    plain_hosts: Annotated[
        Hosts,
        Field(
            description="Hosts of the database, Redis and the object store, separated by commas, to which "
            "connections need no TLS, because the network between is private. `duograph doctor` warns of "
            "others."
        ),
    ] = ()
    stall_seconds: Annotated[
        int,
        Field(
            ge=1,
            le=600,
            description="Seconds after which a request whose headers or body stall is closed, and an answer "
            "of which the client receives nothing more; 1 to 600.",
        ),
    ] = 30
    unsent_mebibytes: Annotated[
        int,
        Field(
            ge=1,
            description="MiB that each process keeps of answers while slow clients receive them. Beyond "
            "that, the oldest of the network address with most of them are cut off.",
        ),
    ] = 64
