"""The progress of commands that take long, in a terminal on standard error."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text


class CountColumn(ProgressColumn):
    """How many of how many are done: `1,250,000/9,800,000`."""

    def render(self, task: Task) -> Text:
        total = f"{task.total:,.0f}"
        return Text(f"{task.completed:,.0f}".rjust(len(total)) + f"/{total}", style="progress.download")


class RateColumn(ProgressColumn):
    """How many are done in a second; nothing until that is known."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "", style="progress.data.speed")


def counting() -> Progress:
    """Bars with the share, how many of how many are done and how fast, and the time that is left."""
    console = Console(file=sys.stderr)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        CountColumn(),
        RateColumn(),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
    )
    return Progress(*columns, console=console, disable=not console.is_terminal)


@contextmanager
def reporting() -> Iterator[Callable[[str, int, int], None]]:
    """What is told the name of a step, how many are done, and how many there are."""
    tasks: dict[str, TaskID] = {}
    with counting() as progress:

        def report(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = progress.add_task(step)
            progress.update(tasks[step], completed=done, total=total)

        yield report
