"""What a User-Agent says, in words: enough to tell one's own browsers apart."""

from __future__ import annotations

# The first that occurs counts: browsers name others that they want to pass for.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("Firefox", "Firefox"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def browser_name(user_agent: str | None) -> str:
    """Like "Firefox on Linux"; what it says itself, cut short, where we know no better."""
    said = user_agent or ""
    browser = next((name for part, name in _BROWSERS if part in said), None)
    system = next((name for part, name in _SYSTEMS if part in said), None)
    if browser and system:
        return f"{browser} on {system}"
    return browser or system or said[:60] or "Unknown browser"
