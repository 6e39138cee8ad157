"""What axe-core finds wrong with a page in a browser: barriers for people with disabilities."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page

GRAVE = {"serious", "critical"}
# The rules whose outcome depends on colours alone.
COLOURS = ["color-contrast", "link-in-text-block"]

_axe = Axe()


async def violations(page: Page, *, rules: list[str] | None = None, without: str | None = None) -> list[str]:
    """The serious and critical violations of all rules, or of `rules`, each with the elements that have it.

    Elements within the selector `without` are not looked at.
    """
    await _settle(page)
    context = {"exclude": [without]} if without else None
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules is not None:
        options["runOnly"] = {"type": "rule", "values": rules}
    results = await _axe.run(page, context, options)
    return [
        f"{found['id']}: {node['html']} {node['failureSummary']}"
        for found in results.response["violations"]
        if found["impact"] in GRAVE
        for node in found["nodes"]
    ]


async def _settle(page: Page) -> None:
    """Let transitions of colours end, which axe would catch halfway."""
    await page.evaluate(
        "Promise.allSettled(document.getAnimations({ subtree: true }).map((each) => each.finished))"
    )
