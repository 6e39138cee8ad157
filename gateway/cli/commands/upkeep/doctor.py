"""`duograph doctor`: check everything that a gateway needs."""

from typing import Annotated

import typer

from gateway.cli.kit.output import Json

app = typer.Typer(add_completion=False)


@app.command()
def doctor(
    workers: Annotated[int, typer.Option(min=1, max=256, help="Processes of `serve`.")] = 1,
    strict: Annotated[bool, typer.Option("--strict", help="Treat warnings as failures.")] = False,
    as_json: Json = False,
) -> None:
    """Check the settings, the database, the object store, Redis and the mail server."""
    from gateway.cli.upkeep.doctor import doctor

    doctor(workers, strict=strict, as_json=as_json)
