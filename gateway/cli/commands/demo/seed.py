"""`duograph seed`: a demo workspace."""

from typing import Annotated

import typer

from gateway.cli.demo.data import DAYS, SESSIONS
from gateway.cli.kit.output import Json

app = typer.Typer(add_completion=False)

Sessions = Annotated[
    int, typer.Option(min=0, max=10_000_000, help="File-share sessions to create, with as many events.")
]
Days = Annotated[int, typer.Option(min=1, max=3650, help="Days up to now over which they are spread.")]


@app.command()
def seed(sessions: Sessions = SESSIONS, days: Days = DAYS, as_json: Json = False) -> None:
    """Create a demo workspace with data and activity. Existing data is kept."""
    from gateway.cli.demo.seed import seed

    seed(sessions, days, as_json=as_json)
