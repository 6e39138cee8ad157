"""The types of settings. Each checks its value; no message repeats a value that may be secret."""

import re
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, SecretStr

Network: TypeAlias = IPv4Network | IPv6Network

SHORTEST_SECRET = 32
S3_SCHEME = "s3://"
MAPPED_PREFIX_LENGTH = 96
ANY_ORIGIN = "*"
SQLITE_START = "sqlite+aiosqlite:///"

_DRIVERS = {
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
}
# What asyncpg takes from an address; its `ssl` is libpq's `sslmode`.
_PARAMETERS = ("host", "passfile", "port", "service", "servicefile", "ssl", "target_session_attrs")
LARGEST_PORT = 65_535
_WRONG_PORT = (
    f"its port should be a number up to {LARGEST_PORT}; in a password, write / ? # : @ as %2F %3F %23 %3A %40"
)


def parse_trusted(text: str) -> tuple[Network, ...]:
    """The comma-separated networks of `DUOGRAPH_TRUSTED_PROXIES`; an address is a network of one.

    Raises `ValueError` with a sentence for the operator.
    """
    return tuple(_parse_network(part.strip()) for part in text.split(",") if part.strip())


def _parse_network(text: str) -> Network:
    try:
        network = ip_network(text)
    except ValueError as error:
        raise ValueError(
            f"DUOGRAPH_TRUSTED_PROXIES: {text!r} is not a network. Give addresses, or networks without host "
            "bits, separated by commas, such as 10.0.0.0/8, 2001:db8::/32."
        ) from error
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    if mapped is not None and network.prefixlen >= MAPPED_PREFIX_LENGTH:
        return IPv4Network((mapped, network.prefixlen - MAPPED_PREFIX_LENGTH))
    return network


def _parse_networks(value: Any) -> Any:
    return parse_trusted(value) if isinstance(value, str) else value


def _name_driver(url: str) -> str:
    """The address with the name of its driver."""
    backend, separator, rest = url.partition("://")
    if not separator or backend not in _DRIVERS:
        raise ValueError("it should begin with sqlite:/// or postgresql://")
    named = f"{_DRIVERS[backend]}://{rest}"
    if backend.startswith("sqlite") and (
        not named.startswith(SQLITE_START) or named.removeprefix(SQLITE_START) in ("", ":memory:")
    ):
        raise ValueError("SQLite needs a file that connections share, like sqlite:///var/duograph.sqlite")
    return named if backend.startswith("sqlite") else _with_known_parameters(named)


def _with_known_parameters(url: str) -> str:
    """The address of PostgreSQL with parameters as its driver names them."""
    # The help of a command has no address and needs no SQLAlchemy.
    from sqlalchemy.engine import make_url  # noqa: PLC0415

    try:
        address = make_url(url)
    except ValueError:
        raise ValueError(_WRONG_PORT) from None
    if (address.port or 0) > LARGEST_PORT:
        raise ValueError(_WRONG_PORT)
    if "sslmode" in address.query:
        return _with_known_parameters(re.sub(r"([?&])sslmode=", r"\1ssl=", url))
    if not address.query.keys() <= set(_PARAMETERS):
        raise ValueError(
            f"its parameters can be {', '.join(_PARAMETERS)} and sslmode; others have variables, such as "
            "PGSSLROOTCERT"
        )
    return url


def _check_address(url: str) -> str:
    """The address without a trailing slash."""
    if not re.match(r"https?://[^/]", url):
        raise ValueError("it should begin with http:// or https:// and a host")
    return url.rstrip("/")


def _check_redis(url: str) -> str:
    if not url.startswith(("redis://", "rediss://", "unix://")):
        raise ValueError("it should begin with redis://, rediss:// or unix://")
    try:
        _ = urlsplit(url).port
    except ValueError:
        raise ValueError(_WRONG_PORT) from None
    return url


def _check_clamd(url: str) -> str:
    address = urlsplit(url)
    is_path = address.scheme == "unix" and len(address.path) > 1
    try:
        is_port = address.scheme == "tcp" and bool(address.hostname and address.port)
    except ValueError:
        is_port = False
    if not is_path and not is_port:
        raise ValueError("it should be tcp://HOST:PORT or unix:///PATH")
    return url


def _check_store(place: str) -> str:
    if "://" in place and not re.fullmatch(S3_SCHEME + r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", place):
        raise ValueError("it should be a directory, or s3:// and the name of a bucket")
    return place


def _check_secret(key: SecretStr) -> SecretStr:
    if len(key) < SHORTEST_SECRET:
        raise ValueError(f"it should have {SHORTEST_SECRET} characters or more")
    return key


def _parse_lines(value: Any) -> Any:
    return tuple(filter(None, map(str.strip, value.splitlines()))) if isinstance(value, str) else value


def _parse_names(value: Any) -> Any:
    return tuple(filter(None, map(str.strip, value.lower().split(",")))) if isinstance(value, str) else value


def _parse_origins(value: Any) -> Any:
    """The comma-separated origins, in the form in which browsers send them."""
    if not isinstance(value, str):
        return value
    if value.strip() in ("*", "none"):
        return (ANY_ORIGIN,) if value.strip() == ANY_ORIGIN else ()
    origins = tuple(part.strip().lower().rstrip("/") for part in value.split(","))
    for origin in origins:
        if not re.fullmatch(r"https?://[a-z0-9.\[\]:-]+", origin):
            raise ValueError(
                f"{origin!r} is not an origin: give * for any, none, or a list such as "
                "https://app.example.com, http://localhost:5173"
            )
    return origins


Hosts: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_parse_names)]
Networks: TypeAlias = Annotated[tuple[Network, ...], BeforeValidator(_parse_networks)]
Origins: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_parse_origins)]
DatabaseUrl: TypeAlias = Annotated[str, AfterValidator(_name_driver)]
WebAddress: TypeAlias = Annotated[str, AfterValidator(_check_address)]
RedisUrl: TypeAlias = Annotated[str, AfterValidator(_check_redis)]
ClamdUrl: TypeAlias = Annotated[str, AfterValidator(_check_clamd)]
ObjectPlace: TypeAlias = Annotated[str, AfterValidator(_check_store)]
SecretKeys: TypeAlias = Annotated[
    tuple[Annotated[SecretStr, AfterValidator(_check_secret)], ...], BeforeValidator(_parse_lines)
]
SecretKey: TypeAlias = Annotated[SecretStr, AfterValidator(_check_secret)]
