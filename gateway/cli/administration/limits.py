"""What `duograph limits` does."""

from collections.abc import Callable
from typing import Any

from gateway.cli.kit.database import migrated, read_settings, wait_for
from gateway.cli.kit.input import workspace_of
from gateway.cli.kit.output import show
from gateway.settings.settings import Settings
from resolvers.files.quota import set_quota, set_row_quotas, usage_of
from resolvers.operations.context import Quota
from resolvers.workspaces.administration import set_limit
from schema.values.prose import write_size
from storage.totals.kinds import usage_of_kind


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
    ]
    show({"slug": slug, **limits}, "\n".join(lines), as_json=as_json)


def _sentence(changes: dict[str, Any]) -> str:
    rows = changes.get("row_quotas", {})
    numbers = {name: value for name, value in changes.items() if name != "row_quotas"}
    units = {
        "requests_per_minute": "calls per minute",
        "storage_quota": "bytes",
        "open_upload_quota": "open uploads",
    }
    amounts = [_amount(value, units[name]) for name, value in numbers.items()]
    return ", ".join(amounts + [_amount(value, kind.replace("_", " ")) for kind, value in rows.items()])


def _amount(limit: int, unit: str) -> str:
    return f"{limit} {unit}" if limit else f"{unit} without a limit"


def _most(write: Callable[[int], str], quota: int) -> str:
    return f"at most {write(quota)}" if quota else "any number"


def _number(number: int) -> str:
    return f"{number:,}"


async def _set(settings: Settings, slug: str, changes: dict[str, Any]) -> None:
    own = {"requests_per_minute", "row_quotas"}
    quota = {name: value for name, value in changes.items() if name not in own}
    async with migrated(settings) as database, database.write() as connection:
        workspace = await workspace_of(connection, slug)
        if "requests_per_minute" in changes:
            await set_limit(connection, workspace, changes["requests_per_minute"])
        if quota:
            await set_quota(connection, workspace.id, **quota)
        if "row_quotas" in changes:
            await set_row_quotas(connection, workspace.id, changes["row_quotas"])


async def _read(settings: Settings, slug: str) -> dict[str, Any]:
    quota = Quota(settings.storage_quota, settings.open_upload_quota)
    async with migrated(settings) as database, database.read() as connection:
        workspace = await workspace_of(connection, slug)
        usage = await usage_of(connection, workspace.id, quota)
        kinds = {kind: await usage_of_kind(connection, workspace.id, kind) for kind in settings.row_quotas}
    own = workspace.requests_per_minute
    return {
        "requests_per_minute": settings.rate_limit if own is None else own,
        **usage._asdict(),
        "rows": {kind: used for kind, (used, _) in kinds.items()},
        "row_quotas": {
            kind: quotas.get(kind, settings.row_quotas[kind]) for kind, (_, quotas) in kinds.items()
        },
    }
