"""Warnings about settings that work but are risky, each with a remedy."""

from collections.abc import Iterator

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
