"""What `duograph usage` does."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from gateway.cli.kit.as_user import in_place_of_workspace, perform
from gateway.cli.kit.database import migrated, read_settings, wait_for
from gateway.cli.kit.input import workspace_of
from gateway.cli.kit.output import show, table
from gateway.settings.settings import Settings
from resolvers.usage import list_usage
from schema.credentials.usage import UsageCount
from storage.clock import now

HEADINGS = ("CLIENT", "USED", "REQUESTS", "LAST USE")


def show_usage(slug: str, filters: Mapping[str, Any], *, days: int, limit: int, as_json: bool) -> None:
    first_day = (now() - timedelta(days=days - 1)).date()
    query = {name: value for name, value in filters.items() if value is not None}
    for name in ("client_id", "surface", "kind"):
        if name in query:
            query[name] = [query[name]]
    page = wait_for(_read(read_settings(), slug, query | {"start_date": first_day, "limit": limit}))
    counts: list[UsageCount] = list(page.data)
    rows = [HEADINGS, *map(_row, counts)]
    text = table(rows) if counts else f"No client of {slug} used any of this in {days} days."
    result = {
        "slug": slug,
        "start_date": first_day.isoformat(),
        "total": page.meta.total,
        "data": [count.model_dump(mode="json") for count in counts],
    }
    show(result, text, as_json=as_json)


def _row(count: UsageCount) -> tuple[str, ...]:
    client = count.client_name or str(count.client_id or count.client_kind.value)
    used = f"{count.name} (deprecated)" if count.is_deprecated else count.name
    return client, used, str(count.requests), count.last_used_at.strftime("%Y-%m-%d %H:%M")


async def _read(settings: Settings, slug: str, query: dict[str, Any]) -> Any:
    async with migrated(settings) as database:
        async with database.read() as connection:
            workspace = await workspace_of(connection, slug)
        ctx = in_place_of_workspace(workspace.id, settings, database)
        return await perform(ctx, list_usage, filters=query | {"workspace_id": [str(workspace.id)]})
