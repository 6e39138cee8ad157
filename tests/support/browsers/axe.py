"""What axe-core finds wrong with a page in a browser: barriers for people with disabilities."""

from __future__ import annotations

from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Page

# The rules whose outcome depends on colours alone.
COLOURS = ["color-contrast", "link-in-text-block"]

# Scripts follow a changed scheme by the next frame, and transitions of colours end first: axe would catch
# them halfway.
RUN = """async ({ rules, areColours }) => {
    await new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
    const all = () => document.getAnimations({ subtree: true });
    const moving = () => all().filter((each) => each.playState === "running");
    // One that ends may begin another.
    for (let some = moving(); some.length; some = moving()) {
        await Promise.allSettled(some.map((each) => each.finished));
        await new Promise((next) => requestAnimationFrame(next));
    }
    const options = { resultTypes: ["violations"] };
    if (areColours) options.runOnly = { type: "rule", values: rules };
    else options.rules = Object.fromEntries(rules.map((rule) => [rule, { enabled: false }]));
    // The tools of others have small faults that a version of theirs mends.
    const isOfOthers = document.querySelector(".tool-page") !== null;
    const { violations } = await axe.run(areColours ? { include: representatives() } : document, options);
    return violations
        .filter(({ impact }) => ["serious", "critical"].includes(impact) || !isOfOthers)
        .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`));

    // The first element of each place in the style sheets: the kinds of it and its ancestors.
    function representatives() {
        const byPlace = new Map();
        for (const element of document.body.querySelectorAll("*")) {
            const hasText = [...element.childNodes].some((each) => each.nodeType === 3 && each.data.trim());
            const isField = ["input", "select", "textarea"].includes(element.localName);
            if (!(hasText || isField) || !element.checkVisibility()) continue;
            const kinds = [];
            for (let each = element; each; each = each.parentElement) kinds.push(kindOf(each));
            const place = kinds.join(" ");
            if (!byPlace.has(place)) byPlace.set(place, element);
        }
        return [...byPlace.values()];
    }

    function kindOf(element) {
        const own = ["href", "src", "title", "name", "value", "for", "datetime"];
        if (/^h\\d$/.test(element.localName)) own.push("id");
        const states = [...element.attributes].filter(({ name }) => !own.includes(name));
        const ends = ["first-child", "last-child"].filter((end) => element.matches(`:${end}`));
        return element.localName + ends + states.map(({ name, value }) => `[${name}=${value}]`).join("");
    }
}"""


async def violations_of_colours(page: Page) -> list[str]:
    """Those of one text of each style: axe takes seconds for all the words of a guide."""
    return await _violations(page, are_colours=True)


async def violations_but_of_colours(page: Page) -> list[str]:
    """Those of all other rules, best practices included, each with its element."""
    return await _violations(page, are_colours=False)


async def _violations(page: Page, *, are_colours: bool) -> list[str]:
    # Reading the script takes longer than most runs: it is read once for each document.
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE_SCRIPT)
    found: list[str] = await page.evaluate(RUN, {"rules": COLOURS, "areColours": are_colours})
    return found
