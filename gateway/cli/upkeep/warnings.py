"""Warnings about settings that work but are risky, each with a remedy."""

from collections.abc import Iterator
from ipaddress import ip_address
from urllib.parse import parse_qsl, urlsplit

from gateway.settings.server import Environment
from gateway.settings.settings import Settings

READABLE_BY_OTHERS = 0o077


def warnings_of(settings: Settings, workers: int) -> Iterator[tuple[str, str]]:
    """Yield the topic and the sentence of each warning."""
    yield from _about_processes(settings, workers)
    if settings.env == Environment.PRODUCTION:
        yield from _about_production(settings)


def _about_processes(settings: Settings, workers: int) -> Iterator[tuple[str, str]]:
    if workers == 1:
        return
    if settings.redis_url is None:
        yield "redis", "Each process counts rate limits on its own: set DUOGRAPH_REDIS_URL to share them."
    if settings.sqlite_path is not None:
        yield (
            "database",
            "SQLite has one writer, so processes wait for each other: use PostgreSQL or one worker.",
        )


def _about_connections(settings: Settings) -> Iterator[tuple[str, str]]:
    """Connections to other machines that others on the way could read, or answer in place of the server."""
    remedies = {
        "database_url": ("database", "add ?sslmode=verify-full to DUOGRAPH_DATABASE_URL"),
        "database_read_url": ("read replica", "add ?sslmode=verify-full to DUOGRAPH_DATABASE_READ_URL"),
        "redis_url": ("redis", "let DUOGRAPH_REDIS_URL begin with rediss://"),
        "s3_endpoint": ("object store", "let DUOGRAPH_S3_ENDPOINT begin with https://"),
    }
    for name, (topic, remedy) in remedies.items():
        address = urlsplit(getattr(settings, name) or "")
        query = dict(parse_qsl(address.query))
        host = address.hostname or query.get("host", "")
        is_verified = address.scheme in ("https", "rediss") or query.get("ssl") == "verify-full"
        if is_verified or not host or host.startswith("/") or is_own(host) or host in settings.plain_hosts:
            continue
        yield (
            topic,
            f"Others on the way to {host} could read or answer what is sent: {remedy}, or name it in "
            "DUOGRAPH_PLAIN_HOSTS if the network between is private.",
        )


def is_own(host: str) -> bool:
    """Whether the host is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _about_production(settings: Settings) -> Iterator[tuple[str, str]]:
    defaults = Settings.model_fields
    if settings.insecure_http:
        yield "settings", "Passwords and tokens may be sent over http: unset DUOGRAPH_INSECURE_HTTP."
    elif not settings.trusted_proxies:
        yield (
            "settings",
            "Callers without a credential share the rate limit of the proxy that terminates https: add its "
            "network to DUOGRAPH_TRUSTED_PROXIES.",
        )
    if settings.rate_limit == 0 or settings.rate_limit_restricted == 0:
        yield "settings", "A rate limit is off: passwords can be guessed as fast as the gateway answers."
    if settings.smtp_url is None:
        yield "mail", "Emails are written to DUOGRAPH_OUTBOX and not sent: set DUOGRAPH_SMTP_URL."
    elif settings.mail_from == defaults["mail_from"].default:
        yield "mail", "Many servers reject emails from duograph@localhost: set DUOGRAPH_MAIL_FROM."
    yield from _about_connections(settings)
    directory = settings.object_directory
    if directory is not None and not directory.is_absolute():
        yield (
            "object store",
            f"Files are stored in {directory}, relative to the current directory: set DUOGRAPH_OBJECT_STORE "
            "to s3://BUCKET or an absolute path.",
        )
    path = settings.sqlite_path
    if path is not None and path.exists() and path.stat().st_mode & READABLE_BY_OTHERS:
        yield "database", f"Other users of this machine can read {path}: run `chmod 600 {path}*`."
