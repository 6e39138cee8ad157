"""`duograph limits`: the rate limit and storage quota of a workspace."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from gateway.cli.database import migrated, read_settings, wait_for
from gateway.cli.input import workspace_of
from gateway.cli.output import CommandError, Json, noun, show
from gateway.settings.settings import Settings
from resolvers.files.quota import set_quota, usage_of
from resolvers.operations.context import Quota
from resolvers.workspaces.administration import LARGEST_LIMIT, set_limit
from schema.prose import write_size

LARGEST_QUOTA = 2**53 - 1

app = noun("Show and set the limits of a workspace.")
Slug = Annotated[str, typer.Argument(help="The workspace.")]


@app.command("set")
def set_(
    slug: Slug,
    requests_per_minute: Annotated[
        int | None,
        typer.Argument(metavar="N", min=0, max=LARGEST_LIMIT, help="Calls per minute; 0 for no limit."),
    ] = None,
    storage_quota: Annotated[
        int | None,
        typer.Option(min=0, max=LARGEST_QUOTA, help="Bytes of stored files; 0 for no limit."),
    ] = None,
    open_upload_quota: Annotated[
        int | None,
        typer.Option(min=0, max=LARGEST_LIMIT, help="Incomplete uploads; 0 for no limit."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Set a workspace's own limits, from its next request on."""
    quota = {"storage_quota": storage_quota, "open_upload_quota": open_upload_quota}
    limits = {"requests_per_minute": requests_per_minute, **quota}
    changes = {name: value for name, value in limits.items() if value is not None}
    if not changes:
        raise CommandError("Name a limit: calls per minute, --storage-quota or --open-upload-quota.")
    wait_for(_set(read_settings(), slug, changes))
    result = {"slug": slug, **changes}
    show(result, f"The workspace {slug} may have {_sentence(changes)}.", as_json=as_json)


@app.command("show")
def show_(slug: Slug, as_json: Json = False) -> None:
    """Show a workspace's limits and usage."""
    settings = read_settings()
    limits = wait_for(_read(settings, slug))
    stored = write_size(limits["stored_bytes"])
    lines = [
        f"{slug} may make {_amount(limits['requests_per_minute'], 'calls per minute')}.",
        f"It stores {stored}, of {_most(write_size, limits['storage_quota'])}, and has "
        f"{limits['open_uploads']} open uploads, of {_most(str, limits['open_upload_quota'])}.",
    ]
    show({"slug": slug, **limits}, "\n".join(lines), as_json=as_json)


def _sentence(changes: dict[str, int]) -> str:
    units = {
        "requests_per_minute": "calls per minute",
        "storage_quota": "bytes",
        "open_upload_quota": "open uploads",
    }
    return ", ".join(_amount(value, units[name]) for name, value in changes.items())


def _amount(limit: int, unit: str) -> str:
    return f"{limit} {unit}" if limit else f"{unit} without a limit"


def _most(write: Callable[[int], str], quota: int) -> str:
    return f"at most {write(quota)}" if quota else "any number"


async def _set(settings: Settings, slug: str, changes: dict[str, int]) -> None:
    quota = {name: value for name, value in changes.items() if name != "requests_per_minute"}
    async with migrated(settings) as database, database.write() as connection:
        workspace = await workspace_of(connection, slug)
        if "requests_per_minute" in changes:
            await set_limit(connection, workspace, changes["requests_per_minute"])
        if quota:
            await set_quota(connection, workspace.id, **quota)


async def _read(settings: Settings, slug: str) -> dict[str, Any]:
    quota = Quota(settings.storage_quota, settings.open_upload_quota)
    async with migrated(settings) as database, database.read() as connection:
        workspace = await workspace_of(connection, slug)
        usage = await usage_of(connection, workspace.id, quota)
    own = workspace.requests_per_minute
    return {"requests_per_minute": settings.rate_limit if own is None else own, **usage._asdict()}
