"""The output of subcommands: one JSON object or a short text, or one sentence about an error."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print exactly one JSON object.")]
Check = Annotated[bool, typer.Option("--check", help="Only compare; fail if they differ.")]
OneWorkspace = Annotated[
    str | None, typer.Option("--workspace", metavar="SLUG", help="Only this workspace; all if left out.")
]


class CommandError(Exception):
    """What is wrong and what to do, in one sentence; `status` is the exit status."""

    def __init__(self, sentence: str, status: int = 1) -> None:
        super().__init__(sentence)
        self.status = status


def noun(help: str) -> typer.Typer:
    """A group of subcommands, even if it has only one."""
    app = typer.Typer(help=help, add_completion=False)
    app.callback()(_nothing)
    return app


def show(result: Mapping[str, Any], text: str, *, as_json: bool) -> None:
    """Print `result` as one line of JSON, or `text` for people."""
    typer.echo(json.dumps(result, ensure_ascii=False) if as_json else text)


def table(rows: list[tuple[str, ...]]) -> str:
    """Rows as text in columns; the first row has the headings."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _nothing() -> None:
    """Does nothing. Its presence makes Typer treat one command as a group."""
