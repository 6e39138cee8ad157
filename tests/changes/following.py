"""Readers that follow the feed of changes."""

from typing import Any


async def newest(surface: Any, **filters: Any) -> str:
    """The position of the newest change."""
    position: str = (await surface.get_latest_change(**filters))["position"]
    return position


async def changes_after(surface: Any, position: str | None, **filters: Any) -> list[dict[str, Any]]:
    """All changes after a position, page by page."""
    changes: list[dict[str, Any]] = []
    while True:
        sent = filters if position is None else {**filters, "after": position}
        page = await surface.get_changes(**sent)
        changes += page["data"]
        position = page["meta"]["next_cursor"]
        if not page["meta"]["has_more"]:
            return changes
