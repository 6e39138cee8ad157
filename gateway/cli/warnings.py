"""What a gateway can be run with and had better not be, each with what to do about it."""

from collections.abc import Iterator
from pathlib import Path

from gateway.settings.settings import Environment, Settings
from gateway.settings.types import S3_SCHEME

READABLE_BY_OTHERS = 0o077


def warnings_of(settings: Settings, workers: int) -> Iterator[tuple[str, str]]:
    """What it is about and a sentence, for each thing that is not as it should be."""
    yield from _about_processes(settings, workers)
    if settings.env == Environment.PRODUCTION:
        yield from _about_production(settings)


def _about_processes(settings: Settings, workers: int) -> Iterator[tuple[str, str]]:
    if workers == 1:
        return
    if settings.redis_url is None:
        yield "redis", "Each process counts its rate limits alone: set DUOGRAPH_REDIS_URL for one budget."
    if settings.sqlite_path is not None:
        yield (
            "database",
            "Processes wait for each other at SQLite's one writer: use PostgreSQL, or one worker.",
        )


def _about_production(settings: Settings) -> Iterator[tuple[str, str]]:
    defaults = Settings.model_fields
    if settings.insecure_http:
        yield "settings", "Passwords and tokens may travel by http: unset DUOGRAPH_INSECURE_HTTP."
    elif not settings.trusted_proxies:
        yield (
            "settings",
            "Callers without a credential share the budget of the proxy that ends https: name its network in "
            "DUOGRAPH_TRUSTED_PROXIES.",
        )
    if settings.rate_limit == 0 or settings.rate_limit_restricted == 0:
        yield "settings", "A rate limit is off: passwords can be guessed as fast as the gateway answers."
    if settings.smtp_url is None:
        yield "mail", "Nobody gets mail: it is files in DUOGRAPH_OUTBOX until DUOGRAPH_SMTP_URL is set."
    elif settings.mail_from == defaults["mail_from"].default:
        yield "mail", "Mail comes from duograph@localhost, which many servers refuse: set DUOGRAPH_MAIL_FROM."
    place = settings.object_store
    if not place.startswith(S3_SCHEME) and not Path(place).is_absolute():
        yield (
            "object store",
            f"Files are kept in {place}, below the directory that this was started in: set "
            "DUOGRAPH_OBJECT_STORE to s3://BUCKET or to a path that begins with /.",
        )
    path = settings.sqlite_path
    if path is not None and path.exists() and path.stat().st_mode & READABLE_BY_OTHERS:
        yield "database", f"Other users of this machine can read {path}: run `chmod 600 {path}*`."
