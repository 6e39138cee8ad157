"""`duograph docs`: the pages that follow from the declarations."""

from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.docs_pages import pages
from gateway.cli.output import CommandError, Json, noun, show

app = noun("The documentation that follows from the declarations.")

FOLDER = Path(__file__).parents[2] / "docs"
# Ends the generated part of a page; what follows in the file stays as it is.
BY_HAND = "<!-- What follows is written by hand. -->"


@app.command()
def export(
    check: Annotated[bool, typer.Option("--check", help="Only compare; fail where they differ.")] = False,
    as_json: Json = False,
) -> None:
    """Write the generated pages of docs/."""
    changed = []
    for name, generated in pages().items():
        path = FOLDER / name
        before = path.read_text("utf-8") if path.exists() else ""
        _, mark, rest = before.partition(BY_HAND)
        text = f"{generated}\n{mark}{rest}" if mark else generated
        if before != text:
            changed.append(name)
            if not check:
                path.write_text(text, "utf-8")
    if check and changed:
        raise CommandError(f"docs/{changed[0]} is not what the code says: run `duograph docs export`.")
    said = f"Wrote {', '.join(changed)}." if changed else "The pages are as the code says."
    show({"changed": changed}, said, as_json=as_json)
