"""`duograph move`: move all data from SQLite to PostgreSQL."""

from typing import Annotated

import typer

from gateway.cli.kit.output import CommandError, Json, Yes, confirm

app = typer.Typer(add_completion=False)

To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="URL",
        help="A migrated, empty database: postgresql://USER@HOST/NAME. PGPASSWORD or ~/.pgpass has the "
        "password.",
    ),
]
Undo = Annotated[
    bool,
    typer.Option("--undo", help="Let the SQLite file be changed and served again."),
]


@app.command()
def move(to: To = None, undo: Undo = False, yes: Yes = False, as_json: Json = False) -> None:
    """Move all data from SQLite to PostgreSQL, and compare both.

    Gateways may serve the file meanwhile: they refuse changes. After an interruption, run it again.
    """
    if (to is None) == (not undo):
        raise CommandError("Say where to: --to postgresql://USER@HOST/NAME, or --undo.", status=2)
    from gateway.cli.upkeep.move import move, undo_move

    if to is not None:
        move(to, as_json=as_json)
        return
    confirm("What was changed in the other database since the move is not in this one.", yes=yes)
    undo_move(as_json=as_json)
