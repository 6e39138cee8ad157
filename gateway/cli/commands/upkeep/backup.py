"""`duograph backup`: a copy of the SQLite database and the uploaded files."""

from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.kit.output import Json

app = typer.Typer(add_completion=False)

To = Annotated[Path, typer.Option("--to", metavar="DIRECTORY", help="A directory that does not exist yet.")]


@app.command()
def backup(to: To, as_json: Json = False) -> None:
    """Copy the SQLite database and the local object store while gateways run.

    The secret key and other settings are not in the copy.
    """
    from gateway.cli.upkeep.backup import backup

    backup(to, as_json=as_json)
