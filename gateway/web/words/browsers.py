"""Names of browsers from their User-Agent, so that users can tell their browsers apart."""

# The first match counts: browsers also name others, for compatibility.
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
    """Like "Firefox on Linux"; the start of the User-Agent if it is unknown."""
    text = user_agent or ""
    browser = next((name for part, name in _BROWSERS if part in text), None)
    system = next((name for part, name in _SYSTEMS if part in text), None)
    if browser and system:
        return f"{browser} on {system}"
    return browser or system or text[:60] or "Unknown browser"
