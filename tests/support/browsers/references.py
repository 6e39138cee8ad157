"""What a page loads, links to, and has inline."""

from html.parser import HTMLParser


class References(HTMLParser):
    """Collects what a page loads and links to, its inline scripts, styles and event handlers."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.inline: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        self.addresses += [names[name] or "" for name in ("href", "src", "action") if name in names]
        self.inline += [f"{tag} {name}" for name in names if name == "style" or name.startswith("on")]
        if tag == "style" or (tag == "script" and "src" not in names):
            self.inline.append(tag)
