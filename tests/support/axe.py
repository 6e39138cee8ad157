"""What axe-core finds wrong with a page in a browser: barriers for people with disabilities."""

from __future__ import annotations

from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Page

# The rules whose outcome depends on colours alone.
COLOURS = ["color-contrast", "link-in-text-block"]

# Transitions of colours end first: axe would catch them halfway.
RUN = """async (rules) => {
    const animations = document.getAnimations({ subtree: true });
    await Promise.allSettled(animations.map((each) => each.finished));
    const options = { resultTypes: ["violations"] };
    if (rules) options.runOnly = { type: "rule", values: rules };
    const { violations } = await axe.run(document, options);
    return violations
        .filter(({ impact }) => ["serious", "critical"].includes(impact))
        .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`));
}"""


async def violations(page: Page, *, rules: list[str] | None = None) -> list[str]:
    """The serious and critical violations of all rules, or of `rules`, each with the element that has it."""
    # Reading the script takes longer than most runs: it is read once for each document.
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE_SCRIPT)
    found: list[str] = await page.evaluate(RUN, rules)
    return found
