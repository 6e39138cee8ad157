"""Writes the pages of docs/ that are generated from declarations."""

import re
from pathlib import Path

from gateway.cli.generated.docs_pages import pages
from gateway.cli.kit.output import CommandError, show

FOLDER = Path(__file__).parents[3] / "docs"
CHANGELOG = FOLDER.parent / "CHANGELOG.md"
# Marks the end of the generated part of a page; the rest of the file is kept.
BY_HAND = "<!-- What follows is written by hand. -->"

_LINK = re.compile(r"\]\((?!https?:|#)(docs/)?")


def changelog_page(text: str) -> str:
    """CHANGELOG.md with links as they are from docs/."""
    title, _, rest = text.partition("\n")
    note = "<!-- Made by `make generated`; edit CHANGELOG.md, not this page. -->"
    return f"{title}\n\n{note}\n" + _LINK.sub(lambda link: "](" if link[1] else "](../", rest)


def export(*, check: bool, as_json: bool) -> None:
    changed = []
    made = pages()
    if CHANGELOG.exists():  # An installed gateway has its page only.
        made["changelog.md"] = changelog_page(CHANGELOG.read_text("utf-8"))
    for name, generated in made.items():
        path = FOLDER / name
        before = path.read_text("utf-8") if path.exists() else ""
        _, mark, rest = before.partition(BY_HAND)
        page = f"{generated}\n{mark}{rest}" if mark else generated
        if before != page:
            changed.append(name)
            if not check:
                path.write_text(page, "utf-8")
    if check and changed:
        raise CommandError(f"docs/{changed[0]} does not match the code: run `duograph docs export`.")
    text = f"Wrote {', '.join(changed)}." if changed else "The pages match the code."
    show({"changed": changed}, text, as_json=as_json)
