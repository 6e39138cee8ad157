"""Writes generated files that are committed, so that a review shows changes to the API."""

from pathlib import Path

import typer

from gateway.cli.kit.output import CommandError, show

STANDARD_OUTPUT = "-"


def export(path: Path, content: str, *, check: bool, output: str | None, command: str, as_json: bool) -> None:
    """Write `content` to `output`, to `path` if that is left out; with `check` only compare.

    Raises `CommandError` if they differ.
    """
    if output == STANDARD_OUTPUT:
        typer.echo(content, nl=False)
        return
    path = path if output is None else Path(output)
    before = path.read_text("utf-8") if path.exists() else None
    changed = content != before
    if check and changed:
        raise CommandError(f"{path.parent.name}/{path.name} does not match the code: run `{command}`.")
    if changed:
        _write(path, content)
    text = f"Wrote {path}." if changed else f"{path} matches the code."
    show({"path": str(path), "changed": changed}, text, as_json=as_json)


def _write(path: Path, content: str) -> None:
    try:
        path.write_text(content, "utf-8")
    except OSError as error:
        raise CommandError(f"{path} cannot be written ({error.strerror}): choose another file.") from None
