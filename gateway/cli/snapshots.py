"""Writes generated files that are committed, so that a review shows changes to the API."""

from pathlib import Path

from gateway.cli.output import CommandError, show


def export(path: Path, content: str, *, check: bool, command: str, as_json: bool) -> None:
    """Write `content`, or with `check` only compare. Raises `CommandError` if they differ."""
    before = path.read_text("utf-8") if path.exists() else None
    changed = content != before
    if check and changed:
        raise CommandError(f"{path.parent.name}/{path.name} does not match the code: run `{command}`.")
    if changed:
        path.write_text(content, "utf-8")
    text = f"Wrote {path}." if changed else f"{path} matches the code."
    show({"path": str(path), "changed": changed}, text, as_json=as_json)
