"""What `duograph limits` does."""

from collections.abc import Callable
from typing import Any

from gateway.cli.kit.database import migrated, read_settings, wait_for
from gateway.cli.kit.input import workspace_of
from gateway.cli.kit.output import show
from gateway.services import quotas_of
from gateway.settings.settings import Settings
from resolvers.files.quota import set_quota, set_row_quotas, usage_of
from resolvers.operations.row_quotas import Quota
from resolvers.workspaces.administration import set_limit
from schema.values.prose import write_size
from storage.totals.kinds import bytes_of, usage_of_kind

_OF_KINDS = ("row_quotas", "byte_quotas")


def set_(slug: str, changes: dict[str, Any], *, as_json: bool) -> None:
    wait_for(_set(read_settings(), slug, changes))
    result = {"slug": slug, **changes}
    show(result, f"The workspace {slug} may have {_sentence(changes)}.", as_json=as_json)


def show_(slug: str, *, as_json: bool) -> None:
    settings = read_settings()
    limits = wait_for(_read(settings, slug))
    stored = write_size(limits["stored_bytes"])
    lines = [
        f"{slug} may make {_amount(limits['requests_per_minute'], 'calls per minute')}.",
        f"It stores {stored}, of {_most(write_size, limits['storage_quota'])}, and has "
        f"{limits['open_uploads']} open uploads, of {_most(str, limits['open_upload_quota'])}.",
        *(
            f"It has {used:,} {kind.replace('_', ' ')}, of {_most(_number, limits['row_quotas'][kind])}."
            for kind, used in limits["rows"].items()
        ),
        *(
            f"Their texts and metadata have {write_size(used)} ({kind.replace('_', ' ')}), of "
            f"{_most(write_size, limits['byte_quotas'][kind])}."
            for kind, used in limits["bytes"].items()
        ),
    ]
    show({"slug": slug, **limits}, "\n".join(lines), as_json=as_json)


def _sentence(changes: dict[str, Any]) -> str:
    amounts_of_kinds = {kind.replace("_", " "): many for kind, many in changes.get("row_quotas", {}).items()}
    for kind, size in changes.get("byte_quotas", {}).items():
        amounts_of_kinds[f"bytes of {kind.replace('_', ' ')}"] = size
    numbers = {name: value for name, value in changes.items() if name not in _OF_KINDS}
    units = {
        "requests_per_minute": "calls per minute",
        "storage_quota": "bytes",
        "open_upload_quota": "open uploads",
    }
    amounts = [_amount(value, units[name]) for name, value in numbers.items()]
    return ", ".join(amounts + [_amount(value, unit) for unit, value in amounts_of_kinds.items()])


def _amount(limit: int, unit: str) -> str:
    return f"{limit} {unit}" if limit else f"{unit} without a limit"


def _most(write: Callable[[int], str], quota: int) -> str:
    return f"at most {write(quota)}" if quota else "any number"


def _number(number: int) -> str:
    return f"{number:,}"


async def _set(settings: Settings, slug: str, changes: dict[str, Any]) -> None:
    own = {"requests_per_minute", *_OF_KINDS}
    quota = {name: value for name, value in changes.items() if name not in own}
    sizes = {bytes_of(kind): size for kind, size in changes.get("byte_quotas", {}).items()}
    of_kinds = {**changes.get("row_quotas", {}), **sizes}
    async with migrated(settings) as database, database.write() as connection:
        workspace = await workspace_of(connection, slug)
        if "requests_per_minute" in changes:
            await set_limit(connection, workspace, changes["requests_per_minute"])
        if quota:
            await set_quota(connection, workspace.id, **quota)
        if of_kinds:
            await set_row_quotas(connection, workspace.id, of_kinds)


async def _read(settings: Settings, slug: str) -> dict[str, Any]:
    quota = Quota(settings.storage_quota, settings.open_upload_quota)
    async with migrated(settings) as database, database.read() as connection:
        workspace = await workspace_of(connection, slug)
        usage = await usage_of(connection, workspace.id, quota)
        defaults = quotas_of(settings)
        kinds = {kind: await usage_of_kind(connection, workspace.id, kind) for kind in defaults}
    own = workspace.requests_per_minute
    used = {kind: many for kind, (many, _) in kinds.items()}
    most = {kind: quotas.get(kind, defaults[kind]) for kind, (_, quotas) in kinds.items()}
    return {
        "requests_per_minute": settings.rate_limit if own is None else own,
        **usage._asdict(),
        "rows": {kind: used[kind] for kind in settings.row_quotas},
        "row_quotas": {kind: most[kind] for kind in settings.row_quotas},
        "bytes": {kind: used[bytes_of(kind)] for kind in settings.byte_quotas},
        "byte_quotas": {kind: most[bytes_of(kind)] for kind in settings.byte_quotas},
    }
