"""The output of subcommands: one JSON object or a short text, or one sentence about an error."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from storage.operator_errors import OperatorError

Json = Annotated[bool, typer.Option("--json", help="Print exactly one JSON object.")]
Check = Annotated[bool, typer.Option("--check", help="Only compare; fail if they differ.")]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write this file instead; - for standard output."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Limit = Annotated[int, typer.Option(min=1, max=100_000, help="At most this many, oldest first.")]
OneWorkspace = Annotated[
    str | None, typer.Option("--workspace", metavar="SLUG", help="Only this workspace; all if left out.")
]


class CommandError(OperatorError):
    """The same from a command itself, with an exit status."""

    def __init__(self, sentence: str, status: int = 1) -> None:
        super().__init__(sentence)
        self.status = status


def noun(help: str) -> typer.Typer:
    """A group of subcommands, even if it has only one."""
    app = typer.Typer(help=help, add_completion=False)
    app.callback()(_nothing)
    return app


def tell_operator(sentence: str) -> None:
    """Say on standard error what a command waits for or does meanwhile."""
    typer.echo(sentence, err=True)


def show(result: Mapping[str, Any], text: str, *, as_json: bool) -> None:
    """Print `result` as one line of JSON, or `text` for people."""
    typer.echo(json.dumps(result, ensure_ascii=False) if as_json else text)


def confirm(question: str, *, yes: bool) -> None:
    """Ask in a terminal. Raises `CommandError` without one, and `Abort` for a no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandError("This cannot be undone: add --yes, or run it in a terminal.", status=2)
    typer.confirm(f"{question} This cannot be undone. Continue?", abort=True, err=True)


def sheet(pairs: Mapping[str, Any]) -> str:
    """Names and values, one pair on each line; `-` for what is missing."""
    width = max(map(len, pairs))
    return "\n".join(f"{name.ljust(width)}  {_cell(value)}" for name, value in pairs.items())


def listing(noun: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """These columns of rows as text, or that there are no rows."""
    if not rows:
        return f"There are no {noun}."
    headings = tuple(column.replace("_", " ").upper() for column in columns)
    return table([headings, *(tuple(_cell(row[column]) for column in columns) for row in rows)])


def some_of(items: Sequence[str], most: int = 5) -> str:
    """The items as a list in a sentence, at most so many of them, and how many more there are."""
    left = len(items) - most
    return ", ".join(items) if left <= 0 else f"{', '.join(items[:most])} and {left} more"


def table(rows: list[tuple[str, ...]]) -> str:
    """Rows as text in columns; the first row has the headings."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None or value == "" else str(value)


def _nothing() -> None:
    """Does nothing. Its presence makes Typer treat one command as a group."""
