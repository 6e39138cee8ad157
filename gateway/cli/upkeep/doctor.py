"""The doctor: checks everything that a gateway needs."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from redis.asyncio import Redis
from redis.exceptions import RedisError
from sqlalchemy import func, select

from gateway.cli.kit.database import about_move, migrated, read_settings, wait_for
from gateway.cli.kit.output import CommandError, show
from gateway.cli.upkeep.capacity import warnings_of_servers
from gateway.cli.upkeep.clusters import warnings_of_cluster
from gateway.cli.upkeep.totals_sample import warnings_of_totals
from gateway.cli.upkeep.warnings import warnings_of
from gateway.files.store import make_object_store
from gateway.mail.task import make_transport
from gateway.mail.transport import Down
from gateway.settings.settings import Settings
from storage.copies.marks import read_mark
from storage.objects.interface import StoreUnavailable
from storage.objects.scanning import Scanner, ScannerUnavailable
from storage.operator_errors import OperatorError
from storage.searching.making import lack
from storage.workspaces.distribution import read_cluster

PATIENCE_SECONDS = 5

Status = Literal["ok", "warn", "failed"]
LABELS: dict[Status, str] = {"ok": "ok  ", "warn": "warn", "failed": "FAIL"}


@dataclass(frozen=True)
class Finding:
    """The result of one check; unless it is `ok`, `message` says what to do."""

    name: str
    status: Status
    message: str

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "ok": self.status != "failed"}

    @property
    def line(self) -> str:
        return f"{LABELS[self.status]}  {self.name}: {self.message}"


def doctor(workers: int, *, strict: bool, as_json: bool) -> None:
    """Check and report. Raises `CommandError` if something needs attention."""
    findings = wait_for(_examine(workers))
    fatal = {"failed", "warn"} if strict else {"failed"}
    faults = list(dict.fromkeys(finding.name for finding in findings if finding.status in fatal))
    result = {"ok": not faults, "checks": [finding.as_json() for finding in findings]}
    show(result, "\n".join(finding.line for finding in findings), as_json=as_json)
    if faults:
        raise CommandError(f"These checks need attention: {', '.join(faults)}.")


async def _examine(workers: int) -> list[Finding]:
    """All findings; if the settings are invalid, nothing else is checked."""
    try:
        settings = read_settings()
    except OperatorError as error:
        return [Finding("settings", "failed", str(error))]
    checks: dict[str, Callable[[Settings], Awaitable[str]]] = {
        "database": _check_database,
        "read replica": _check_replica,
        "object store": _check_object_store,
        "scanner": _check_scanner,
        "redis": _check_redis,
        "mail": _check_mail,
    }
    findings = [Finding("settings", "ok", f"for {settings.env.value}")]
    for name, check in checks.items():
        try:
            findings.append(Finding(name, "ok", await check(settings)))
        except OperatorError as error:
            findings.append(Finding(name, "failed", str(error)))
    warnings = [*warnings_of(settings, workers)]
    warnings += [warning async for warning in warnings_of_servers(settings, workers)]
    warnings += [warning async for warning in warnings_of_totals(settings)]
    warnings += [warning async for warning in warnings_of_cluster(settings)]
    return findings + [Finding(about, "warn", sentence) for about, sentence in warnings]


async def _check_database(settings: Settings) -> str:
    async with migrated(settings) as database:
        if (mark := await read_mark(database)) is not None:
            raise CommandError(about_move(mark))
        state = f"{database.engine.dialect.name}, at the newest revision"
        cluster, lacking = await read_cluster(database), await lack(database)
    about_searching = "" if lacking is None else f". {lacking}"
    if cluster is None or not cluster.is_distributed:
        return state + about_searching
    if deviations := list(cluster.deviations()):
        raise CommandError(f"{'; '.join(deviations)}: run `duograph distribute`.")
    return f"{state}, distributed in {cluster.shards} shards{about_searching}"


async def _check_replica(settings: Settings) -> str:
    if settings.database_read_url is None:
        return "none; all reads go to the database"
    at_replica = {"database_url": settings.database_read_url, "database_read_url": None}
    async with migrated(settings.model_copy(update=at_replica)) as database, database.read() as connection:
        is_standby = (await connection.execute(select(func.pg_is_in_recovery()))).scalar_one()
    if not is_standby:
        raise CommandError(
            "It is not a standby server, so all reads go to the database: correct DUOGRAPH_DATABASE_READ_URL."
        )
    return "a standby at the newest revision"


async def _check_object_store(settings: Settings) -> str:
    place = settings.object_store
    # The check signs nothing for callers, so it needs no secret.
    objects = make_object_store(settings, b"")
    try:
        await objects.check()
    except StoreUnavailable as error:
        what = "its permissions" if settings.object_directory else "its keys and DUOGRAPH_S3_ENDPOINT"
        raise CommandError(
            f"{place} cannot be written ({error}): correct {what} or DUOGRAPH_OBJECT_STORE."
        ) from None
    finally:
        await objects.close()
    return f"{place} can be written"


async def _check_scanner(settings: Settings) -> str:
    if settings.clamd_url is None:
        return "none; uploads are not scanned"
    try:
        await Scanner(settings.clamd_url).check()
    except ScannerUnavailable as error:
        raise CommandError(
            f"ClamAV does not answer ({error}): start clamd, or correct DUOGRAPH_CLAMD_URL."
        ) from None
    return "answers"


async def _check_redis(settings: Settings) -> str:
    if settings.redis_url is None:
        return "none; each process counts rate limits on its own"
    try:
        async with Redis.from_url(settings.redis_url, socket_timeout=PATIENCE_SECONDS) as redis:
            await redis.ping()
    except (RedisError, OSError, ValueError) as error:
        raise CommandError(
            f"Redis does not answer ({error}): start it, or correct DUOGRAPH_REDIS_URL."
        ) from None
    return "answers"


async def _check_mail(settings: Settings) -> str:
    variable = "DUOGRAPH_OUTBOX" if settings.smtp_url is None else "DUOGRAPH_SMTP_URL"
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await make_transport(settings).check()
    except (Down, TimeoutError) as error:
        reason = str(error) or f"no answer in {PATIENCE_SECONDS} seconds"
        raise CommandError(f"Emails cannot be sent ({reason}): correct {variable}.") from None
