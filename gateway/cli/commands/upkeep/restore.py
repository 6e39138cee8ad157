"""`duograph restore`: put a backup in place."""

from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.kit.output import Json

app = typer.Typer(add_completion=False)

From = Annotated[Path, typer.Option("--from", metavar="DIRECTORY", help="What `duograph backup` made.")]
CheckOnly = Annotated[bool, typer.Option("--check", help="Only check that it is complete and unchanged.")]

Unsigned = Annotated[
    bool,
    typer.Option(
        "--unsigned", help="Also a backup of another secret key or an earlier version, if you trust it."
    ),
]


@app.command()
def restore(
    source: From, check: CheckOnly = False, unsigned: Unsigned = False, as_json: Json = False
) -> None:
    """Check a backup and copy it to where the settings say. Nothing is overwritten."""
    from gateway.cli.upkeep.restore import restore

    restore(source, check_only=check, unsigned=unsigned, as_json=as_json)
